// SPDX-License-Identifier: MIT
// GEMM with copies to LDS that travel while several tiles before them are computed with.
#include "../check_gemm.hpp"

#include <tilewright/core/arch/arch.hpp>
#include <tilewright/kernels/gemm/named_policies.hpp>

namespace tilewright::testing_gemm {
namespace {

using enum operand_major;
using enum arch::matrix_op;

/// As many tiles along k as there are stages, fewer and more; whole and partial ones; edges along m and n.
template <class Policy>
void expect_any_number_of_tiles() {
  constexpr index_t step = Policy::tile.k;
  for (const index_t k_length : {index_t(8), step, step + 8, 2 * step, 3 * step - 8, 5 * step, 6 * step + 16}) {
    SCOPED_TRACE(k_length);
    expect_gemm<Policy>({.m = 72, .n = 136, .k = k_length, .alpha = 2, .beta = 0.5f, .batch = 2, .gap = 8});
  }
  expect_gemm<Policy>({.m = Policy::tile.m, .n = 2 * Policy::tile.n, .k = 4 * step});
}

template <class Arch, class T, operand_major A, operand_major B, index_t Stages, index_t K = 32>
using policy =
    gemm_policy<Arch, T, A, B, 8, block_tile{64, 128, K, 2, 2, mma_m16n8k16_x2}, multi_stage_pipeline<Stages>>;

TEST(MultiStagePipeline, TwoStages) { expect_any_number_of_tiles<policy<arch::sm80, half_t, k, k, 2>>(); }
TEST(MultiStagePipeline, ThreeStages) { expect_any_number_of_tiles<policy<arch::sm90, bfloat16_t, k, k, 3>>(); }
TEST(MultiStagePipeline, FourStages) { expect_any_number_of_tiles<policy<arch::sm90, half_t, k, k, 4>>(); }
TEST(MultiStagePipeline, OneStepPerTile) { expect_any_number_of_tiles<policy<arch::sm90, half_t, k, k, 3, 16>>(); }

// Operands whose rows are not contiguous stay so in LDS and are transposed when they are read.
TEST(MultiStagePipeline, TransposedB) { expect_any_number_of_tiles<policy<arch::sm90, half_t, k, mn, 4>>(); }
TEST(MultiStagePipeline, TransposedA) { expect_any_number_of_tiles<policy<arch::sm80, bfloat16_t, mn, k, 3>>(); }
TEST(MultiStagePipeline, BothTransposed) { expect_any_number_of_tiles<policy<arch::sm90, half_t, mn, mn, 3, 64>>(); }

// What the benchmark on an H100 runs: eight waves of 64 x 64. LDS of sm_80 holds three stages.
template <class Arch, operand_major B>
using large_policy = gemm_128x256<Arch, half_t, k, B, 8>;
static_assert(std::is_same_v<large_policy<arch::sm80, k>::pipeline, multi_stage_pipeline<3>> &&
              std::is_same_v<large_policy<arch::sm90, mn>::pipeline, multi_stage_pipeline<4>>);
static_assert(require_conflict_free_gemm<large_policy<arch::sm90, k>>() &&
              require_conflict_free_gemm<large_policy<arch::sm90, mn>>());
TEST(MultiStagePipeline, LargeTiles) { expect_any_number_of_tiles<large_policy<arch::sm90, mn>>(); }

}  // namespace
}  // namespace tilewright::testing_gemm
