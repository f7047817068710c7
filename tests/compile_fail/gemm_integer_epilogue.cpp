// SPDX-License-Identifier: MIT
// A bias for sums that stay integers.
// EXPECT: gemm: sums that stay integers can only be scaled by alpha and beta
#include <tilewright/arch/arch.hpp>
#include <tilewright/gemm/gemm_kernel.hpp>

namespace tw = tilewright;
using enum tw::operand_major;

struct integers : tw::gemm_policy<tw::arch::gfx942, tw::int8_t, k, k, 16> {
  using epilogue = tw::epilogue::bias;
};
void f(const tw::gemm_args& args) { tw::gemm_kernel<integers>{}(args); }
