// SPDX-License-Identifier: MIT
// GEMMs whose rows start at any element, on the CPU emulator.
#include <tilewright/kernels/gemm/hopper/detail/unaligned_producer.hpp>

#include "check_hopper_gemm.hpp"

namespace tilewright::testing_gemm {
namespace {

using enum operand_major;
constexpr hopper_gemm_tile small{.m = 64, .n = 64, .consumers = 1, .unaligned = true};

/// Edges of tiles, of k and of batches, in lines that start at every element of a vector; k is whole, or split: into
/// equal splits, or so that ranges cross tiles.
TEST(UnalignedProducer, RowsThatStartAtAnyElement) {
  using along_k = gemm_hopper<half_t, k, k, small>;
  const problem odd{.m = 61, .n = 67, .k = 331, .alpha = 0.5f, .beta = 1, .batch = 2, .gap = 3};
  hopper_gemm_case<along_k> gemm(odd);
  launch<gemm_kernel<along_k>>(gemm.args, {.workers = 1, .resident_clusters = 2});  // without a workspace
  expect_result(gemm);
  problem in_parts = odd;
  in_parts.split_k = 3;
  expect_hopper_gemm<along_k>(in_parts, {.workers = 1, .resident_clusters = 2});
  using along_mn = gemm_hopper<bfloat16_t, mn, mn, small, bfloat16_t, epilogue::from_args>;
  expect_hopper_gemm<along_mn>({.m = 61, .n = 67, .k = 131, .beta = 2, .batch = 2, .gap = 3},
                               {.workers = 1, .resident_clusters = 3});
  EXPECT_EQ(expect_split<along_mn>({.m = 61, .n = 191, .k = 28 * 64 + 5, .gap = 1}, 5), 0);
}
TEST(UnalignedProducer, BytesAndTwoConsumers) {
  constexpr hopper_gemm_tile wide{.m = 128, .n = 64, .unaligned = true};
  expect_hopper_gemm<gemm_hopper<fp8_ocp_t, k, k, wide, bfloat16_t>>(
      {.m = 139, .n = 67, .k = 333, .alpha = 2, .beta = 0.5f, .batch = 2, .gap = 3});
}

TEST(UnalignedProducer, PassesInExploredSchedules) {
  explore_hopper_gemm<gemm_hopper<half_t, k, k, small>>({.m = 61, .n = 67, .k = 201, .beta = 1, .gap = 3});
}

/// TMA wants rows at multiples of 16 bytes; unaligned tiles want elements where elements may be.
TEST(UnalignedProducer, TakesWhatTmaRefuses) {
  alignas(16) static half_t memory[2][64];
  gemm_args g{.a = memory[0] + 1, .b = memory[0], .c = memory[1] + 1, .m = 3, .n = 5, .k = 7};
  g.lda = g.ldb = 7, g.ldc = 5;
  using kernel = gemm_kernel<gemm_hopper<half_t, k, k, small>>;
  EXPECT_EQ(kernel::check(g), nullptr);
  constexpr hopper_gemm_tile aligned{.m = 64, .n = 64, .consumers = 1};
  EXPECT_NE((gemm_kernel<gemm_hopper<half_t, k, k, aligned>>::check(g)), nullptr);
  g.b = reinterpret_cast<const char*>(memory) + 1;
  EXPECT_STREQ(kernel::check(g), "a pointer is not aligned to its elements");
}

TEST(UnalignedProducer, GridsAndOffsetsThatAreTooLarge) {
  alignas(16) static float workspace[4];
  using kernel = gemm_kernel<gemm_hopper<half_t, k, k, small>>;
  gemm_args g{.m = 1, .n = 8, .k = 128, .lda = 128, .ldb = 128, .ldc = 8, .batch = 65535, .split_k = 2};
  g.batch_stride_c = 8, g.workspace = workspace;
  EXPECT_EQ(kernel::check(g), nullptr);
  g.batch = 65536;
  EXPECT_STREQ(kernel::check(g), "the batch has more than 65535 problems, for which k is not split into equal parts");
  g.split_k = 1;
  EXPECT_EQ(kernel::check(g), nullptr);
  g.batch = 1, g.ldc = 0x7fffffff / 2 / 16;
  EXPECT_EQ(kernel::check(g), nullptr);
  ++g.ldc;
  EXPECT_STREQ(kernel::check(g), "a leading dimension is so large that a block would need offsets of 2 GiB or more");
}

}  // namespace
}  // namespace tilewright::testing_gemm
