// SPDX-License-Identifier: MIT
// The static report's figures against numbers worked out by hand, and what the model prefers.
#include <tilewright/gemm/best_policy.hpp>

#include <gtest/gtest.h>

#include <tilewright/arch/arch.hpp>

namespace tilewright {
namespace {

constexpr const gpu_facts& mi210 = known_gpus[0];
constexpr const gpu_facts& mi300x = known_gpus[1];
constexpr auto k = operand_major::k;

TEST(StaticReport, OfA128x128x64TileOnMi300x) {
  const gemm_static_report r = static_report<gemm_128x128<arch::gfx942, half_t, k, k, 8>>();
  EXPECT_EQ(r.operations, 2.0 * 128 * 128 * 64);
  EXPECT_NEAR(r.matrix_clocks(mi300x), 1024, 1) << "four SIMDs: 32 instructions of 32 clocks each";
  EXPECT_NEAR(r.matrix_clocks(mi210), 2048, 2) << "64 clocks each";
  EXPECT_EQ(r.lds_read_clocks, 4 * 16 * 16) << "4 waves, 16 instructions, 16 clocks each";
  EXPECT_EQ(r.lds_write_clocks, 4 * 8 * 8) << "4 waves, 8 instructions, 8 phases each";
  EXPECT_EQ(r.global_bytes, 256 * 64 * 2);
  EXPECT_EQ(r.lds_bytes, 256 * 64 * 2);
  EXPECT_EQ(r.registers, 64 + 32 + 64 + 32);
  EXPECT_EQ(r.blocks_per_cu(mi300x), 2);
  EXPECT_TRUE(r.conflict_free);
  EXPECT_EQ(r.bound(mi300x), gemm_bound::lds);
  EXPECT_EQ(r.bound(mi210), gemm_bound::matrix_instructions);
  EXPECT_NEAR(r.tera_bound(mi300x), 1307.4 * 1024 / 1280, 1);
}

TEST(BestPolicy, LargeTilesForLargeProblems) {
  const auto reports = named_reports<arch::gfx942, half_t, k, k, 8>();
  static_assert(reports.size() == 4);
  for (const gemm_static_report& r : reports) EXPECT_TRUE(r.conflict_free);
  const auto best = [&](long_index_t m, long_index_t n, long_index_t depth) {
    return best_estimate(reports, mi300x, m, n, depth);
  };
  EXPECT_EQ(best(16384, 16384, 4096).policy, 0);
  EXPECT_EQ(best(16384, 16384, 4096).split_k, 1);
  EXPECT_EQ(best(64, 64, 512).policy, 3);
  EXPECT_GT(best(64, 64, 65536).split_k, 1) << "one tile, a long k";
  EXPECT_EQ((best_policy<arch::gfx942, half_t, k, k>(mi300x, 16384, 16384, 4096).policy), 0);
}

TEST(BestPolicy, CountsIdleUnits) {
  const gemm_static_report r = static_report<gemm_64x64<arch::gfx942, half_t, k, k, 8>>();
  EXPECT_DOUBLE_EQ(estimate(r, mi300x, 64, 64 * 304, 64, 1).idle, 0);
  EXPECT_DOUBLE_EQ(estimate(r, mi300x, 64, 64 * 305, 64, 1).idle, 1 - 305.0 / 608);
  const double full = estimate(r, mi300x, 64, 64 * 304, 65536, 1).loop_seconds;
  EXPECT_NEAR(estimate(r, mi300x, 64, 64 * 305, 65536, 1).loop_seconds / full, 2, 0.05)
      << "one more tile, twice the time";
}

}  // namespace
}  // namespace tilewright
