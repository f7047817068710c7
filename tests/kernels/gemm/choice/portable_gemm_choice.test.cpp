// SPDX-License-Identifier: MIT
// The static report's figures against numbers worked out by hand, and what the model prefers.
#include <tilewright/kernels/gemm/choice/portable_gemm_choice.hpp>

#include <gtest/gtest.h>

#include <algorithm>

#include <tilewright/core/arch/arch.hpp>

namespace tilewright {
namespace {

constexpr const arch::gpu_facts& mi210 = arch::known_gpus[0];
constexpr const arch::gpu_facts& mi300x = arch::known_gpus[1];
constexpr const arch::gpu_facts& mi355x = arch::known_gpus[2];
constexpr const arch::gpu_facts& a100 = arch::known_gpus[5];
constexpr const arch::gpu_facts& h100 = arch::known_gpus[6];
constexpr auto k = operand_major::k;

TEST(StaticReport, OfA128x128x64TileOnMi300x) {
  const gemm_static_report& r = static_report<gemm_128x128<arch::gfx942, half_t, k, k, 8>>;
  EXPECT_EQ(r.operations, 2.0 * 128 * 128 * 64);
  EXPECT_NEAR(r.matrix_clocks(mi300x), 1024, 1) << "four SIMDs: 32 instructions of 32 clocks each";
  EXPECT_NEAR(r.matrix_clocks(mi210), 2048, 2) << "64 clocks each";
  EXPECT_EQ(r.lds_read_clocks, 4 * 16 * 16) << "4 waves, 16 instructions, 16 clocks each";
  EXPECT_EQ(r.lds_write_clocks, 4 * 8 * 8) << "4 waves, 8 instructions, 8 phases each";
  EXPECT_EQ(r.global_bytes, 256 * 64 * 2);
  EXPECT_EQ(r.lds_bytes, 256 * 64 * 2);
  EXPECT_EQ(r.registers, 64 + 32 + 64 + 32);
  EXPECT_EQ(r.blocks_per_cu(), 2);
  EXPECT_TRUE(r.conflict_free);
  EXPECT_EQ(r.bound(mi300x), gemm_bound::lds);
  EXPECT_EQ(r.bound(mi210), gemm_bound::matrix_instructions);
  EXPECT_NEAR(r.tera_bound(mi300x), 1307.4 * 1024 / 1280, 1);
}

TEST(StaticReport, OfA128x256x64TileOnH100) {
  const gemm_static_report& r = static_report<gemm_128x256<arch::sm90, half_t, k, k, 8>>;
  EXPECT_NEAR(r.matrix_clocks(h100), 1536, 1) << "eight waves, 128 instructions of 6 clocks, four tensor cores";
  EXPECT_EQ(r.lds_read_clocks, 8 * 32 * 4) << "8 waves, 32 instructions, 4 wavefronts each";
  EXPECT_EQ(r.lds_write_clocks, 8 * 12 * 4);
  EXPECT_NEAR(r.l2_clocks(h100), 384 * 128 / 34.0, 0.1);
  EXPECT_NEAR(r.l2_clocks(h100, false), 384 * 160 / 34.0, 0.1) << "rows that begin within a sector of 32 bytes";
  EXPECT_NEAR(r.step_clocks(h100), 1536 + 0.2 * 1408, 1) << "no waiting at the barrier: operands are in registers";
  EXPECT_EQ(r.lds_bytes, 4 * 384 * 128);
  EXPECT_EQ(r.registers, 128 + 32 + 64);
  EXPECT_EQ(r.blocks_per_cu(), 1);
  EXPECT_TRUE(r.conflict_free);
  EXPECT_EQ(r.bound(h100), gemm_bound::matrix_instructions);
  // A quarter of the results for a third of the bytes; operands of B contiguous along n have no rows along k.
  const gemm_static_report& medium = static_report<gemm_128x128<arch::sm90, half_t, k, operand_major::mn, 8>>;
  EXPECT_EQ(medium.bound(h100), gemm_bound::l2);
  EXPECT_NEAR(medium.l2_clocks(h100, false), (256 * 64 + 128 * 32) / 34.0, 0.1);
  EXPECT_EQ(medium.blocks_per_cu(), 2);
  // Three stages fit, and nothing is known of what L2 delivers.
  const gemm_static_report& older = static_report<gemm_128x256<arch::sm80, half_t, k, k, 8>>;
  EXPECT_EQ(older.lds_bytes, 3 * 384 * 128);
  EXPECT_NEAR(older.step_clocks(a100), 2048, 2) << "a tensor core needs 8 clocks";
}

// In named_policies of CDNA.
constexpr index_t ping_pong = 4, one_wave = 5, small_m = 6, direct_128x128 = 7;

TEST(StaticReport, OfWavesThatTakeTurns) {
  const gemm_static_report& r = static_report<gemm_ping_pong<arch::gfx942, half_t, k, k, 8>>;
  EXPECT_EQ(r.tile.k, 32);
  EXPECT_NEAR(r.matrix_clocks(mi300x), 2048, 1) << "8 waves on four SIMDs: 32 instructions of 32 clocks each";
  EXPECT_EQ(r.lds_read_clocks, 8 * 12 * 16);
  EXPECT_EQ(r.lds_write_clocks, 8 * 4 * 8);
  EXPECT_EQ(r.lds_clocks(), 1536 + 256 + 2 * 64) << "each group waits once";
  EXPECT_EQ(r.wait_clocks(), 0);
  EXPECT_EQ(r.lds_bytes, 2 * 512 * 64);
  EXPECT_EQ(r.registers, 128 + 48 + 16 + 32);
  EXPECT_EQ(r.blocks_per_cu(), 1);
  EXPECT_TRUE(r.conflict_free);
  EXPECT_NEAR(r.tera_bound(mi300x), 1307.4, 0.1);
  // Matrix instructions of gfx950 are twice as fast, its reads too, its writes not: the LDS needs as long,
  // and latencies add up.
  const gemm_static_report& fast = static_report<gemm_ping_pong<arch::gfx950, half_t, k, k, 8>>;
  EXPECT_EQ(fast.lds_clocks(), 8 * 24 * 8 + 8 * 8 * 8 + 4 * 64) << "two phases";
  EXPECT_NEAR(fast.matrix_clocks(mi355x), 2048, 1);
  EXPECT_EQ(fast.bound(mi355x), gemm_bound::lds);
}

TEST(StaticReport, OfOneWaveForEachSimd) {
  const gemm_static_report& r = static_report<gemm_one_wave<arch::gfx950, half_t, k, k, 8>>;
  EXPECT_EQ(r.lds_clocks(), 4 * 32 * 8 + 4 * 16 * 8);
  EXPECT_EQ(r.wait_clocks(), 64);
  EXPECT_EQ(r.registers, 256 + 64 + 128 + 32);
  EXPECT_EQ(r.blocks_per_cu(), 1);
  EXPECT_EQ(r.bound(mi355x), gemm_bound::matrix_instructions);
  EXPECT_NEAR(r.tera_bound(mi355x), 2516.6 * 2048 / 2112, 1);
}

TEST(PortableGemmChoice, PipelinesOfLargeTiles) {
  EXPECT_EQ((choose_portable_gemm(named_reports<arch::gfx942, half_t, k, k, 8>(), mi300x, {8192, 8192, 8192}).policy),
            one_wave);
  EXPECT_EQ((choose_portable_gemm(named_reports<arch::gfx950, half_t, k, k, 8>(), mi355x, {8192, 8192, 8192}).policy),
            one_wave);
  EXPECT_EQ((named_reports<arch::gfx950, fp8_ocp_t, k, k, 16>().size()), 5) << "too many registers for one wave";
  for (const gemm_static_report& r : named_reports<arch::gfx950, bfloat16_t, operand_major::mn, operand_major::mn, 8>())
    EXPECT_TRUE(r.conflict_free);
  for (const gemm_static_report& r : named_reports<arch::gfx942, fp8_fnuz_t, k, operand_major::mn, 16>())
    EXPECT_TRUE(r.conflict_free);
}

TEST(PortableGemmChoice, LargeTilesForLargeProblems) {
  const auto reports = named_reports<arch::gfx942, half_t, k, k, 8>();
  static_assert(reports.size() == 7);
  for (const gemm_static_report& r : reports) EXPECT_TRUE(r.conflict_free);
  const auto best = [&](long_index_t m, long_index_t n, long_index_t depth) {
    return choose_portable_gemm(reports, mi300x, {m, n, depth});
  };
  EXPECT_EQ(best(16384, 16384, 4096).policy, one_wave);
  EXPECT_EQ(best(16384, 16384, 4096).split_k, 1);
  EXPECT_EQ(best(64, 64, 512).policy, small_m);
  EXPECT_GT(best(64, 64, 65536).split_k, 1) << "one tile, a long k";
  EXPECT_EQ((choose_portable_gemm(named_reports<arch::gfx942, half_t, k, k, 8>(), mi300x, {16384, 16384, 4096}).policy),
            one_wave);
}

TEST(PortableGemmChoice, LargeTilesOf8BitFloatsOnMi355x) {
  // A wave reads 64 + 64 rows for 64 x 64 results of a 128 x 128 tile: the LDS takes
  // half as long again as the matrix units.
  const gemm_static_report& medium = static_report<gemm_128x128<arch::gfx950, fp8_ocp_t, k, k, 16>>;
  EXPECT_NEAR(medium.matrix_clocks(mi355x), 512, 1);
  EXPECT_EQ(medium.lds_clocks(), 4 * 16 * 8 + 4 * 8 * 8);
  EXPECT_EQ(medium.bound(mi355x), gemm_bound::lds);
  // 128 + 64 rows for 128 x 64: as long. Rows of 64 bytes, so that sums and operands fit the
  // registers of two waves for each SIMD.
  using large_policy = gemm_256x256<arch::gfx950, fp8_ocp_t, k, k, 16>;
  static_assert(std::is_same_v<large_policy::pipeline, multi_stage_pipeline<4>> && large_policy::tile.k == 64);
  static_assert(require_conflict_free_gemm<large_policy>());
  const gemm_static_report& large = static_report<large_policy>;
  EXPECT_NEAR(large.matrix_clocks(mi355x), 1024, 1);
  EXPECT_EQ(large.lds_clocks(), 8 * 12 * 8 + 8 * 4 * 8);
  EXPECT_EQ(large.bound(mi355x), gemm_bound::matrix_instructions);
  EXPECT_EQ(large.registers, 256);
  EXPECT_TRUE(large.conflict_free);
  EXPECT_EQ(
      (choose_portable_gemm(named_reports<arch::gfx950, fp8_ocp_t, k, k, 16>(), mi355x, {8192, 8192, 8192}).policy),
      ping_pong)
      << "tiles of 128 along k have half as many steps";
  // Narrower vectors go through registers.
  using narrow = gemm_256x256<arch::gfx950, bf8_ocp_t, k, k, 1>;
  static_assert(std::is_same_v<narrow::pipeline, double_buffered_pipeline> && narrow::tile.k == 64);
}

TEST(PortableGemmChoice, DirectTiles) {
  const auto shape = [](const gemm_static_report& r, index_t row_bytes, index_t stages) {
    EXPECT_EQ(r.tile.k * r.element_bytes, row_bytes);
    EXPECT_EQ(r.lds_bytes, stages * (r.tile.m + r.tile.n) * row_bytes);
    EXPECT_TRUE(r.conflict_free);
    EXPECT_LE(r.registers, 256);
  };
  shape(static_report<gemm_direct_256x256<arch::gfx950, half_t, k, k, 8>>, 128, 2);
  shape(static_report<gemm_direct_128x128<arch::gfx950, half_t, operand_major::mn, k, 8>>, 128, 3);
  shape(static_report<gemm_direct_256x256<arch::gfx942, half_t, k, k, 2>>, 64, 2);
  shape(static_report<gemm_direct_128x128<arch::gfx942, bfloat16_t, k, k, 8>>, 64, 4);
  shape(static_report<gemm_direct_128x128<arch::gfx90a, float, k, k, 4>>, 64, 4);
}

// Microseconds of the named policies on an H100, f16, A row-major and B column-major, operands in turn so that L2 does
// not hold them.
TEST(PortableGemmChoice, OnH100AsMeasured) {
  struct measured {
    long_index_t m, n, k;
    array<double, 4> microseconds;
  };
  const auto reports = named_reports<arch::sm90, half_t, k, k, 8>();
  for (const measured& p :
       {measured{512, 512, 512, {13.4, 9.2, 7.8, 6.8}}, measured{1024, 1024, 1024, {21.5, 14.6, 12.6, 12.1}},
        measured{1536, 1536, 1536, {29.5, 31.3, 29.9, 34.3}}, measured{2048, 2048, 2048, {40.7, 45.6, 57.3, 75.0}},
        measured{3000, 3000, 3000, {208.5, 243.1, 313.1, 401.1}},
        measured{8192, 8192, 8192, {2463.8, 2671.6, 3836.1, 4541.5}},
        measured{8192, 8192, 512, {230.8, 213.9, 258.0, 298.0}}, measured{4096, 4096, 128, {27.0, 24.5, 27.4, 30.2}},
        measured{1024, 8192, 1024, {46.4, 53.2, 66.2, 78.8}}, measured{128, 8192, 8192, {134.5, 85.8, 78.9, 78.4}},
        measured{16, 8192, 8192, {131.3, 83.3, 75.0, 69.5}}, measured{1000, 5000, 2000, {73.3, 64.9, 75.4, 97.2}},
        measured{4096, 11008, 4096, {849.7, 942.2, 1144.7, 1536.1}},
        measured{2816, 6144, 4096, {343.4, 391.7, 459.0, 560.9}}}) {
    SCOPED_TRACE(testing::Message() << p.m << " x " << p.n << " x " << p.k);
    index_t chosen = 0;
    double shortest = 0, best = p.microseconds[0];
    for (index_t i = 0; i < reports.size(); ++i) {
      const double seconds = estimate_gemm(reports[i], h100, {p.m, p.n, p.k}, 1).seconds;
      if (i == 0 || seconds < shortest) {
        chosen = i;
        shortest = seconds;
      }
      best = std::min(best, p.microseconds[i]);
    }
    EXPECT_LT(p.microseconds[chosen], 1.05 * best) << "policy " << chosen;
    EXPECT_NEAR(shortest * 1e6 / p.microseconds[chosen], 1, p.m < 512 ? 0.4 : 0.25);
  }
  static_assert(reports.size() == 4);
  EXPECT_EQ((named_reports<arch::sm90, half_t, k, k, 1>().size()), 3) << "128 x 256 copies vectors of 16 bytes";
}

TEST(PortableGemmChoice, CountsIdleUnits) {
  const gemm_static_report& r = static_report<gemm_64x64<arch::gfx942, half_t, k, k, 8>>;
  EXPECT_DOUBLE_EQ(estimate_gemm(r, mi300x, {64, 64 * 304, 64}, 1).idle, 0);
  EXPECT_DOUBLE_EQ(estimate_gemm(r, mi300x, {64, 64 * 305, 64}, 1).idle, 1 - 305.0 / 608);
  const double full = estimate_gemm(r, mi300x, {64, 64 * 304, 65536}, 1).loop_seconds;
  EXPECT_NEAR(estimate_gemm(r, mi300x, {64, 64 * 305, 65536}, 1).loop_seconds / full, 1.6, 0.05)
      << "one more tile: two blocks of a compute unit hide a quarter of each other, and the others leave it their "
         "power";
  EXPECT_NEAR(estimate_gemm(r, mi210, {64, 64 * 105, 65536}, 1).loop_seconds /
                  estimate_gemm(r, mi210, {64, 64 * 104, 65536}, 1).loop_seconds,
              2, 0.05);
}

TEST(PortableGemmChoice, IsTheModelOfAmdInstinctGpus) {
  const gemm_static_report& r = static_report<gemm_16x64<arch::gfx950, bfloat16_t, k, k, 8>>;
  const cdna_gemm_kernel kernel = r.as_cdna_kernel(4);
  EXPECT_EQ(kernel.stages, 3) << "of four stages one is multiplied";
  EXPECT_EQ(kernel.loop, cdna_loop::scheduled);
  EXPECT_EQ(kernel.lds_clocks, r.lds_read_clocks) << "copies bypass registers";
  const cdna_gemm_time t = predict_gemm(arch::cdna_gpus[2], kernel, 8, 2048, 7168);
  const gemm_estimate e = estimate_gemm(r, mi355x, {8, 2048, 7168}, 4);
  EXPECT_DOUBLE_EQ(e.seconds, t.us * 1e-6);
  EXPECT_DOUBLE_EQ(e.loop_seconds, t.compute_us * 1e-6);
  EXPECT_DOUBLE_EQ(e.memory_seconds, t.memory_us * 1e-6);
  EXPECT_NE(estimate_gemm(r, mi210, {8, 2048, 7168}, 4).seconds, e.seconds) << "no facts of its caches";
  const gemm_static_report& plain = static_report<gemm_16x64<arch::gfx942, bfloat16_t, k, k, 8>>;
  EXPECT_EQ(plain.as_cdna_kernel(1).loop, cdna_loop::compiled);
  EXPECT_EQ(plain.as_cdna_kernel(1).lds_clocks, plain.lds_read_clocks + plain.lds_write_clocks);
  EXPECT_TRUE(r.conflict_free && plain.conflict_free);
}

TEST(PortableGemmChoice, FewRowsOnMi355x) {
  const auto best = [](long_index_t m, long_index_t n, long_index_t depth) {
    return choose_portable_gemm(named_reports<arch::gfx950, bfloat16_t, k, k, 8>(), mi355x, {m, n, depth});
  };
  EXPECT_EQ(best(1, 4096, 4096).policy, small_m);
  EXPECT_EQ(best(16, 512, 7168).policy, small_m);
  EXPECT_GT(best(16, 512, 7168).split_k, 1);
  EXPECT_EQ(best(512, 4096, 4096).policy, direct_128x128);
  EXPECT_EQ((named_reports<arch::gfx950, bfloat16_t, k, operand_major::mn, 8>().size()), 6)
      << "rows of B are not whole";
}

}  // namespace
}  // namespace tilewright
