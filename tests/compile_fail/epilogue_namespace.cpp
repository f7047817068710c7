// SPDX-License-Identifier: MIT
// Kernels of two products, launched from inside of a namespace: nvcc compiles the function that takes both tiles, and
// refuses the one that takes none.
// COMPILERS: sm_90a
// EXPECT: epilogue: the function does not take (accumulators, at, args); a policy names arguments of its own as args_type
#include <tilewright/kernels/gemm.hpp>
#include <tilewright/launch/launch.hpp>

namespace app {

namespace tw = tilewright;
using enum tw::operand_major;

struct refused {
  TILEWRIGHT_HD void operator()(auto&, const tw::gemm_args&) const {}
};
template <class Epilogue>
struct layer {
  template <class Arch>
  struct policy : tw::gemm_policy<Arch, tw::half_t, k, k, 8> {
    static constexpr tw::index_t products = 2;
    using epilogue = Epilogue;
  };
  template <class Arch>
  using kernel = tw::gemm_kernel<policy<Arch>>;
};

void run(const tw::gemm_args& args) {
  tw::launch<layer<tw::epilogue::swiglu>::kernel, tw::arch::sm90>(args);
  tw::launch<layer<tw::epilogue::chain<tw::epilogue::swiglu>>::kernel, tw::arch::sm90>(args);
  tw::launch<layer<refused>::kernel, tw::arch::sm90>(args);
}

}  // namespace app
