// SPDX-License-Identifier: MIT
// Tiles from the names of AMD's kernels.
#include "kernel_name.hpp"

#include <gtest/gtest.h>

namespace predict {
namespace {

void expect(const char* name, tw::index_t bits, library family, tw::index_t m, tw::index_t n, tw::index_t k,
            tw::index_t waves) {
  const named_kernel found = parse_kernel_name(name, bits);
  EXPECT_EQ(found.family, family) << name;
  ASSERT_TRUE(found.tile) << name;
  EXPECT_EQ(found.tile->m, m) << name;
  EXPECT_EQ(found.tile->n, n) << name;
  EXPECT_EQ(found.tile->k, k) << name;
  EXPECT_EQ(found.tile->waves, waves) << name;
  EXPECT_EQ(found.tile->element_bits, bits) << name;
  EXPECT_EQ(found.tile->waves % found.tile->waves_n, 0) << name;
}

TEST(KernelName, TilesOfEachLibrary) {
  expect("a8w8_blockscale_1x128x128_256x16x64x256_16x16_16x16_1x1_16x16x1_16x16x1_1x16x1x16_4_1x1_intrawave_v1", 8,
         library::ck, 16, 64, 256, 4);
  expect("a8w8_rowwise_64x16x32x128_16x16_1x1_8x8x1_8x8x1_1x16x1x4_4x4x1_1x1_interwave_v2", 8, library::ck, 16, 32, 128,
         1);
  expect("a4w4_blockscale_256x128x384x128_16x16_16x16_8x32x1_8x32x1_1x16x1x16_8_2x2_intrawave_v3", 4, library::ck, 128,
         384, 256, 4);
  expect("a8w8_blockscale_cktile_192x256x128_4x2x1_16x16x128_intrawave_0x1x0_1", 8, library::ck_tile, 192, 256, 128, 8);
  expect("a8w8_bpreshuffle_cktile_0x0x8x4x1x0x0x0x0x4_16x64x512_1x4x1_16x16x128_default", 8, library::ck_tile, 16, 64,
         512, 4);
  expect("_ZN5aiter41f4gemm_bf16_per1x32Fp4_BpreShuffle_32x128E", 4, library::assembly, 32, 128, 256, 4);
  expect("_ZN5aiter24bf16gemm_bf16_tn_256x256E", 16, library::assembly, 256, 256, 64, 4);
  expect("_ZN5aiter37bf16gemm_fp32bf16_tn_48x64_pf3_splitkE", 16, library::assembly, 48, 64, 64, 4);
  expect("flydsl_bpreshuflle_128x256x128_F8_F8_B16_1x2x4x2_default", 8, library::flydsl, 128, 256, 128, 4);
  expect("flydsl_gemm2_abf16_wbf16_bf16_t16x128x256_split_k2_block_m_warp1_block_n_warp2_block_k_warp3", 16,
         library::flydsl, 16, 128, 256, 6);
  expect("opus_gemm_512x128x256x64_2x4_16x16x32_0x0x0_cA1cB17", 16, library::opus, 128, 256, 64, 8);
  expect("opus_gemm_gfx942_wkc_512x16x32x32_1x1_16x16x16_0x0x0", 16, library::opus, 16, 32, 256, 8);
}

TEST(KernelName, WhatTheNameSaysOfTheLoop) {
  const auto tile = [](const char* name) { return *parse_kernel_name(name, 8).tile; };
  const auto scaled = tile("a8w8_blockscale_1x128x128_256x128x128x128_16x16_32x32_2x2_8x32x1_8x32x1_intrawave_v3");
  EXPECT_EQ(scaled.scale_k, 128);
  EXPECT_TRUE(scaled.b_in_lds);
  EXPECT_EQ(scaled.loop, tw::cdna_loop::compiled);
  const auto shuffled = tile("a8w8_bpreshuffle_256x64x64x256_16x16_16x16_16x16x1_16x16x1_intrawave_v1");
  EXPECT_EQ(shuffled.scale_k, 0);
  EXPECT_FALSE(shuffled.b_in_lds);
  EXPECT_EQ(shuffled.stages, 1);
  EXPECT_EQ(scaled.stages, 2);
  EXPECT_EQ(tile("a8w8_blockscale_cktile_192x256x128_4x2x1_16x16x128_intrawave").loop, tw::cdna_loop::scheduled);
  EXPECT_EQ(tile("a8w8_blockscale_cktile_16x128x256_1x4x1_16x16x128_intrawave").loop, tw::cdna_loop::compiled);
}

TEST(KernelName, BuffersWavesAndSlicesOfFlyDsl) {
  const tw::cdna_gemm_kernel r =
      *parse_kernel_name(
           "flydsl_gemm7_abf16_wbf16_bf16_t16x64x64_split_k8_block_m_warp2_block_n_warp3_block_k_warp4_async_copyTrue",
           16)
           .tile;
  EXPECT_EQ(r.stages, 6);
  EXPECT_EQ(r.waves, 24);
  EXPECT_EQ(r.waves_n, 3);
  EXPECT_EQ(r.waves_k, 4);
  EXPECT_EQ(r.split, tw::cdna_split::fix_up);
  EXPECT_EQ(parse_kernel_name("_ZN5aiter37bf16gemm_fp32bf16_tn_48x64_pf3_splitkE", 16).tile->split,
            tw::cdna_split::second_launch);
}

TEST(KernelName, NamesWithoutATile) {
  for (const char* name : {"native", "auto", "sol2", "", "x", "___"}) {
    EXPECT_EQ(parse_kernel_name(name, 16).family, library::unnamed) << name;
    EXPECT_FALSE(parse_kernel_name(name, 16).tile) << name;
  }
  for (const char* name : {"a8w8_rowwise", "a8w8_rowwise_256x0x64x64", "a8w8_rowwise_256x99999999999x64x64",
                           "a8w8_rowwise_100x64x64x64", "a8w8_rowwise_256x64x64x64x", "_ZN5aiter", "flydsl_t16x16",
                           "opus_gemm_512x128x128x64", "a8w8_cktile_16x64x512"})
    EXPECT_FALSE(parse_kernel_name(name, 8).tile) << name;
}

}  // namespace
}  // namespace predict
