// SPDX-License-Identifier: MIT
// The model of GEMMs on AMD GPUs: units by hand, and what must hold for any tile and shape.
#include <tilewright/kernels/gemm/choice/cdna_gemm_model.hpp>

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace tilewright {
namespace {

constexpr const arch::cdna_gpu& mi300x = arch::cdna_gpus[0];
constexpr const arch::cdna_gpu& mi355x = arch::cdna_gpus[2];

TEST(CdnaGemmModel, UnitsOfA128x128x64Tile) {
  const cdna_gemm_step step = step_of(mi300x, {.m = 128, .n = 128, .k = 64});
  EXPECT_NEAR(step.matrix, 1024, 1) << "as the static report: 32 instructions of 32 clocks on each SIMD";
  EXPECT_EQ(step.lds, 4 * 16 * 16 + 4 * 8 * 8) << "reads of 16 clocks, writes of 8, as the static report";
  EXPECT_EQ(step.load, 256 * 128 / 64);
  EXPECT_EQ(step.vector, 0);
  const cdna_gemm_step fast = step_of(mi355x, {.m = 128, .n = 128, .k = 64});
  EXPECT_NEAR(fast.matrix, 512, 1);
  EXPECT_EQ(fast.lds, 4 * 16 * 8 + 4 * 8 * 8) << "reads take half of the clocks";
}

TEST(CdnaGemmModel, WhatAKernelLeavesOut) {
  const cdna_gemm_kernel plain{.m = 128, .n = 64, .k = 128, .element_bits = 8};
  cdna_gemm_kernel r = plain;
  r.b_in_lds = false;
  EXPECT_EQ(step_of(mi300x, r).lds, 128 * 128 * 2 / 64 + 128 * 128 / 128) << "A alone, read by two columns of waves";
  r = plain;
  r.loop = cdna_loop::scheduled;
  EXPECT_EQ(step_of(mi300x, plain).lds - step_of(mi300x, r).lds, (128 + 64) * 128 / 128) << "direct to LDS";
  r = plain;
  r.lds_clocks = 12345;
  EXPECT_EQ(step_of(mi300x, r).lds, 12345) << "known";
  r = plain;
  r.scale_k = 128;
  EXPECT_DOUBLE_EQ(step_of(mi300x, r).vector, cdna_gemm_constants{}.scale_clocks * 128 * 64 / 64);
}

TEST(CdnaGemmModel, BoundIsTheRoofline) {
  EXPECT_NEAR(cdna_bound_us(mi300x, 16, 2, 8192, 8192, 8192), 2.0 * 8192 * 8192 * 8192 / 1307.4e6, 1e-6);
  EXPECT_NEAR(cdna_bound_us(mi355x, 8, 2, 1, 16384, 16384), (16384.0 * 16384 + 16384 + 2 * 16384) / 8e6, 1e-6);
}

/// Tiles as libraries have them, with odd ones.
cdna_gemm_kernel random_kernel(std::mt19937& random) {
  const auto one_of = [&](std::vector<index_t> list) { return list[random() % list.size()]; };
  cdna_gemm_kernel r{.m = one_of({16, 48, 64, 128, 256}),
                     .n = one_of({32, 64, 96, 128, 256}),
                     .k = one_of({32, 64, 128, 512}),
                     .waves = one_of({2, 4, 8})};
  r.waves_n = one_of({1, 2});
  r.element_bits = one_of({8, 16});
  r.scale_k = one_of({0, 128});
  r.b_in_lds = one_of({0, 1}) == 1;
  r.stages = one_of({1, 2, 4});
  r.split_k = one_of({1, 1, 3});
  r.loop = one_of({0, 1}) == 1 ? cdna_loop::scheduled : cdna_loop::compiled;
  return r;
}

TEST(CdnaGemmModel, NoTimeIsBelowTheBoundOrBelowThatOfASmallerProduct) {
  std::mt19937 random(38);
  for (int i = 0; i < 20000; ++i) {
    const cdna_gemm_kernel r = random_kernel(random);
    const arch::cdna_gpu& gpu = arch::cdna_gpus[index_t(random() % 3)];
    const auto length = [&] { return long_index_t(1) << (random() % 15) | long_index_t(random() % 64); };
    const long_index_t m = length(), n = length(), k = length();
    const cdna_gemm_time t = predict_gemm(gpu, r, m, n, k);
    ASSERT_GE(t.us, t.bound_us) << gpu.name << " " << r.m << "x" << r.n << "x" << r.k << " of " << m << " " << n << " "
                                << k;
    ASSERT_GE(t.us, t.compute_us);
    ASSERT_GE(t.us, t.memory_us);
    const long_index_t more = 1 + long_index_t(random() % 500);
    ASSERT_GE(predict_gemm(gpu, r, m + more, n, k).us, t.us) << m << " + " << more << " " << n << " " << k;
    ASSERT_GE(predict_gemm(gpu, r, m, n + more, k).us, t.us) << m << " " << n << " + " << more << " " << k;
    ASSERT_GE(predict_gemm(gpu, r, m, n, k + more).us, t.us) << m << " " << n << " " << k << " + " << more;
  }
}

TEST(CdnaGemmModel, EachPartOfAGpuCounts) {
  const auto gain = [](double arch::cdna_gpu::* member, long_index_t m, index_t n_of_tile, index_t split_k = 1) {
    const cdna_gemm_kernel r{.m = 64, .n = n_of_tile, .k = 64, .stages = 4, .split_k = split_k, .blocks_per_cu = 2};
    arch::cdna_gpu faster = mi300x;
    faster.*member *= 1.5;
    return predict_gemm(mi300x, r, m, 4096, 4096).us - predict_gemm(faster, r, m, 4096, 4096).us;
  };
  EXPECT_GT(gain(&arch::cdna_gpu::loaded_clock_ghz, 512, 64), 1);
  EXPECT_GT(gain(&arch::cdna_gpu::tera_16bit, 8192, 256), 1);
  EXPECT_GT(gain(&arch::cdna_gpu::load_bytes_per_clock, 8192, 64), 1);
  EXPECT_GT(gain(&arch::cdna_gpu::memory_gb_s, 1, 16), 0.1);
  EXPECT_GT(gain(&arch::cdna_gpu::mall_gb_s, 8192, 16), 1) << "narrow tiles load A again and again";
  EXPECT_GT(gain(&arch::cdna_gpu::mall_bytes, 8192, 64, 3), 20) << "partial sums of 403 MB: slower, unless 403 MB fit";
}

TEST(CdnaGemmModel, TilesQuantiseToComputeUnits) {
  const cdna_gemm_kernel r{.m = 256, .n = 256, .k = 64, .waves = 8, .stages = 2, .loop = cdna_loop::scheduled};
  const double one = predict_gemm(mi355x, r, 256, 256 * 256, 4096).compute_us;
  EXPECT_DOUBLE_EQ(predict_gemm(mi355x, r, 1, 256, 4096).compute_us, one) << "one compute unit takes as long as all";
  EXPECT_NEAR(predict_gemm(mi355x, r, 256, 257 * 256, 4096).compute_us, 2 * one, 1e-9) << "one tile too many";
}

TEST(CdnaGemmModel, ABatchIsAsManyTiles) {
  const cdna_gemm_kernel r{.m = 128, .n = 128, .k = 64};
  const cdna_gemm_time batch = predict_gemm(mi300x, r, 1024, 1024, 512, {}, 8),
                       one = predict_gemm(mi300x, r, 1024, 1024, 512);
  EXPECT_DOUBLE_EQ(batch.compute_us, predict_gemm(mi300x, r, 8 * 1024, 1024, 512).compute_us);
  EXPECT_DOUBLE_EQ(batch.bound_us, 8 * one.bound_us);
  EXPECT_GT(batch.memory_us, 7.9 * one.memory_us);
}

TEST(CdnaGemmModel, ResidentBlocksHideEachOther) {
  cdna_gemm_kernel r{.m = 128, .n = 128, .k = 64, .blocks_per_cu = 1};
  const double alone = predict_gemm(mi300x, r, 8192, 8192, 4096).us;
  r.blocks_per_cu = 2;
  EXPECT_LT(predict_gemm(mi300x, r, 8192, 8192, 4096).us, 0.95 * alone);
}

TEST(CdnaGemmModel, FewWavesLeaveSimdsIdle) {
  const auto compute_us = [](index_t waves, long_index_t tiles) {
    const cdna_gemm_kernel r{.m = 128,
                             .n = 128,
                             .k = 64,
                             .waves = waves,
                             .waves_n = 1,
                             .stages = 4,
                             .loop = cdna_loop::scheduled,
                             .lds_clocks = 1,
                             .blocks_per_cu = 2};
    return predict_gemm(mi300x, r, 128, 128 * tiles, 65536).compute_us;
  };
  // Matrix instructions of four waves take 1,024 clocks for each of 1,024 tiles along k, those of two on two SIMDs
  // more.
  const double clock = min(mi300x.clock_ghz, mi300x.loaded_clock_ghz * (1 + cdna_gemm_constants{}.idle_clock)) * 1e3;
  EXPECT_NEAR(compute_us(2, 1) - compute_us(4, 1), 1024 * 1024 / clock, 10);
  EXPECT_DOUBLE_EQ(compute_us(8, 1), compute_us(4, 1));
  EXPECT_DOUBLE_EQ(compute_us(2, 2 * 304), compute_us(4, 2 * 304)) << "two blocks of two waves use all four";
}

TEST(CdnaGemmModel, ChoosesTheShortestTime) {
  const std::vector<cdna_gemm_kernel> kernels{
      {.m = 256, .n = 256, .k = 64, .waves = 8, .stages = 2, .loop = cdna_loop::scheduled},
      {.m = 128, .n = 128, .k = 64},
      {.m = 16, .n = 64, .k = 128, .waves_n = 4}};
  const auto choice = [&](long_index_t m, long_index_t n, long_index_t k, bool may_split = true) {
    return choose_gemm(mi300x, kernels.data(), index_t(kernels.size()), m, n, k, may_split);
  };
  EXPECT_EQ(choice(16384, 16384, 8192).kernel, 0);
  EXPECT_EQ(choice(16384, 16384, 8192).split_k, 1);
  EXPECT_EQ(choice(16, 4096, 4096).kernel, 2);
  EXPECT_GT(choice(16, 512, 65536).split_k, 1) << "eight tiles, a long k";
  EXPECT_EQ(choice(16, 512, 65536, false).split_k, 1);
  EXPECT_EQ(choice(16, 64, 128).split_k, 1) << "slices of at least four tiles";
  for (const long_index_t m : {1, 100, 3000}) {
    const cdna_gemm_choice best = choice(m, 1536, 7168);
    for (cdna_gemm_kernel r : kernels)
      for (r.split_k = 1; r.split_k <= 4; r.split_k *= 2)
        EXPECT_LE(best.time.us, predict_gemm(mi300x, r, m, 1536, 7168).us);
  }
}

// Tiles of a round that fills the GPU are not shared; 320 tiles for 304 units take little more than one round.
TEST(CdnaGemmModel, StreamKSharesALastRound) {
  const cdna_gemm_kernel plain{.m = 128, .n = 128, .k = 64, .blocks_per_cu = 1};
  cdna_gemm_kernel r = plain;
  const auto predicted = [&](long_index_t tiles) { return predict_gemm(mi300x, r, 128, 128 * tiles, 16384).us; };
  const double one = predicted(304), two = predicted(320);
  r.split_k = 304, r.stream_k = true;
  EXPECT_DOUBLE_EQ(predicted(304), one);
  EXPECT_GT(predicted(320), one);
  EXPECT_LT(predicted(320), 0.7 * two);
  EXPECT_LT(predicted(320), predicted(480));
  const cdna_gemm_choice shared = choose_gemm(mi300x, &plain, 1, 128, 128 * 320, 16384, true, 1, true);
  EXPECT_TRUE(shared.stream_k);
  EXPECT_EQ(shared.split_k, 304);
  EXPECT_FALSE(choose_gemm(mi300x, &plain, 1, 128, 128 * 320, 16384).stream_k) << "unless stream_k_gemm is there";
  r = {.m = 256, .n = 256, .k = 64, .loop = cdna_loop::scheduled, .blocks_per_cu = 1};
  EXPECT_FALSE(choose_gemm(mi300x, &r, 1, 256, 256 * 320, 16384, true, 1, true).stream_k)
      << "256 accumulators of a lane";
}

}  // namespace
}  // namespace tilewright
