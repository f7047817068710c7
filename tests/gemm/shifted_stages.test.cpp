// SPDX-License-Identifier: MIT
// Products whose rows start anywhere in memory, on the CPU machine.
#include <tilewright/gemm/shifted_stages.hpp>

#include "check_specialized.hpp"

namespace tilewright::testing_gemm {
namespace {

using enum operand_major;
constexpr specialized_tile small{.m = 64, .n = 64, .consumers = 1, .any_start = true};

/// Edges of tiles, of k and of batches; lines that start at every byte of a vector that elements allow, with k whole
/// and split.
TEST(ShiftedStages, RowsThatStartAnywhere) {
  using along_k = gemm_specialized<half_t, k, k, small>;
  expect_specialized<along_k>({.m = 61, .n = 67, .k = 131, .alpha = 0.5f, .batch = 2, .gap = 3},
                              {.workers = 1, .resident_clusters = 2});
  expect_specialized<along_k>({.m = 64, .n = 64, .k = 64});
  using along_mn = gemm_specialized<bfloat16_t, mn, mn, small, bfloat16_t, epilogue::from_args>;
  expect_specialized<along_mn>({.m = 61, .n = 67, .k = 131, .beta = 2, .batch = 2, .gap = 3},
                               {.workers = 1, .resident_clusters = 3});
  for (const int workers : {1, 3})
    expect_specialized<along_mn>({.m = 64, .n = 191, .k = 25 * 64 + 5, .gap = 1},
                                 {.workers = workers, .resident_clusters = 4});
}
/// Another kernel adds up parts, and writes rows of C that start anywhere.
TEST(ShiftedStages, Parts) {
  specialized_case<gemm_specialized<half_t, k, k, small>> gemm({.m = 61, .n = 67, .k = 331, .beta = 1, .gap = 3});
  gemm.args.split_k = 3;
  launch_specialized<gemm_specialized<half_t, k, k, small>>(gemm.args, {.workers = 1, .resident_clusters = 2});
  expect_result(gemm);
}
TEST(ShiftedStages, BytesAndTwoConsumers) {
  constexpr specialized_tile wide{.m = 128, .n = 64, .any_start = true};
  expect_specialized<gemm_specialized<fp8_ocp_t, k, k, wide, bfloat16_t>>(
      {.m = 139, .n = 131, .k = 333, .alpha = 2, .beta = 0.5f, .batch = 2, .gap = 3});
}

/// Every bulk copy of the pipeline wants rows at multiples of 16 bytes; shifted stages want none.
TEST(ShiftedStages, TakesWhatBulkCopiesRefuse) {
  alignas(16) static half_t memory[2][64];
  const gemm_args g{
      .a = memory[0] + 1, .b = memory[0], .c = memory[1] + 1, .m = 3, .n = 5, .k = 7, .lda = 7, .ldb = 7, .ldc = 5};
  EXPECT_EQ((gemm_kernel<gemm_specialized<half_t, k, k, small>>::check(g)), nullptr);
  constexpr specialized_tile aligned{.m = 64, .n = 64, .consumers = 1};
  EXPECT_NE((gemm_kernel<gemm_specialized<half_t, k, k, aligned>>::check(g)), nullptr);
}

}  // namespace
}  // namespace tilewright::testing_gemm
