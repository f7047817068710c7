// SPDX-License-Identifier: MIT
// An epilogue both of the arguments and of the policy, and a bias for sums that stay integers.
// EXPECT: gemm: epilogue_options with from_args have no other option
// EXPECT: gemm: sums that stay integers can only be scaled by alpha and beta
#include <tilewright/arch/arch.hpp>
#include <tilewright/gemm/gemm_kernel.hpp>

namespace tw = tilewright;
using enum tw::operand_major;

struct both : tw::gemm_policy<tw::arch::gfx942, tw::half_t, k, k, 8> {
  static constexpr tw::epilogue_options epilogue{.bias = true, .from_args = true};
};
struct integers : tw::gemm_policy<tw::arch::gfx942, tw::int8_t, k, k, 16> {
  static constexpr tw::epilogue_options epilogue{.bias = true};
};
void f(const tw::gemm_args& args) {
  tw::gemm_kernel<both>{}(args);
  tw::gemm_kernel<integers>{}(args);
}
