// SPDX-License-Identifier: MIT
// The policy in docs/amd_gemm.md is one that gemm_kernel takes.
#include <tilewright/kernels/gemm/lds_prediction.hpp>

#include <gtest/gtest.h>

#include <tilewright/core/arch/arch.hpp>

namespace tw = tilewright;

namespace {

struct fused : tw::gemm_policy<tw::arch::gfx942, tw::half_t, tw::operand_major::k, tw::operand_major::k, 8> {
  using result_type = float;
  using epilogue = tw::epilogue::chain<tw::epilogue::alpha, tw::epilogue::bias,
                                       tw::epilogue::activation<tw::activation::gelu>, tw::epilogue::residual>;
  static constexpr tw::grid_order order{.curve = tw::grid_curve::hilbert, .dies = 8};
  static constexpr tw::split_k_kind split_k = tw::split_k_kind::workspace;
};

TEST(AmdGemm, ThePolicyIsSound) {
  static_assert(tw::require_conflict_free_gemm<fused>());
  alignas(16) const float some = 0;
  tw::gemm_args args{.m = 128, .n = 128, .k = 128, .lda = 128, .ldb = 128, .ldc = 128, .split_k = 2};
  EXPECT_NE(tw::gemm_kernel<fused>::check(args), nullptr) << "no bias, no residual, no workspace";
  alignas(16) char workspace[16];
  args.workspace = workspace;
  args.bias = args.residual = &some;
  args.ld_residual = 128;
  EXPECT_STREQ(tw::gemm_kernel<fused>::check(args), nullptr);
  EXPECT_EQ(tw::gemm_kernel<fused>::grid(args).y, 2);
}

}  // namespace
