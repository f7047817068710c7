// SPDX-License-Identifier: MIT
// An activation of parts of a sum.
// EXPECT: gemm: blocks that add to C atomically know only parts of the sums; epilogues need split_k_kind::workspace
#include <tilewright/arch/arch.hpp>
#include <tilewright/gemm/gemm_kernel.hpp>

namespace tw = tilewright;

using enum tw::operand_major;
struct policy : tw::gemm_policy<tw::arch::gfx942, tw::half_t, k, k, 8> {
  using result_type = float;
  using epilogue = tw::epilogue::activation<tw::activation::relu>;
  static constexpr tw::split_k_kind split_k = tw::split_k_kind::atomic;
};
const char* f(const tw::gemm_args& args) { return tw::gemm_kernel<policy>::check(args); }
