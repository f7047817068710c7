// SPDX-License-Identifier: MIT
// An epilogue with arguments of its own, in a policy that does not name them.
// EXPECT: epilogue: the function does not take (accumulators, at, args); a policy names arguments of its own as args_type
#include <tilewright/kernels/gemm/epilogue/epilogue_chain.hpp>

struct my_args : tilewright::gemm_args {};
struct clamp {
  void operator()(auto&, const auto&, const my_args&) const {}
};

int main() {
  int sums = 0, at = 0;
  tilewright::epilogue::detail::call<clamp>(at, tilewright::gemm_args{}, sums);
}
