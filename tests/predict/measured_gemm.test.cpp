// SPDX-License-Identifier: MIT
// Tables of measured GEMMs: columns, rows, and what is refused.
#include "measured_gemm.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "../../tools/program/refusal.hpp"

namespace predict {
namespace {

std::vector<measured_gemm> read(const std::string& text) {
  std::istringstream in(text);
  return read_measured(in);
}

const std::string header = "file,gfx,cu_num,kernel,M,N,K,splitK,us\n";
const std::string ck = "a8w8_rowwise_256x128x128x128_32x32_2x2_intrawave_v3";

TEST(MeasuredGemm, ColumnsInAnyOrder) {
  const auto rows = read(
      "us,K,N,M,extra,kernel,splitK,file,cu_num,gfx\r\n12.5,64,128,3,"
      "x," +
      ck + ",2,a8w8_tuned_gemm.csv,256,gfx950\r\n");
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].gpu, &tw::arch::cdna_gpus[2]);
  EXPECT_EQ(rows[0].m, 3);
  EXPECT_EQ(rows[0].n, 128);
  EXPECT_EQ(rows[0].k, 64);
  EXPECT_EQ(rows[0].us, 12.5);
  EXPECT_EQ(rows[0].element_bits, 8);
  EXPECT_EQ(rows[0].kernel.tile->split_k, 4) << "CK: an exponent";
}

TEST(MeasuredGemm, EmptyNamesAreThoseOfTheRowAbove) {
  const auto rows = read(header + "bf16_tuned_gemm.csv,gfx942,304,native,1,2,3,0,4\n,,,,5,6,7,0,8\n");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1].gpu, &tw::arch::cdna_gpus[0]);
  EXPECT_EQ(rows[1].element_bits, 16);
  EXPECT_EQ(rows[1].kernel_name, "native");
  EXPECT_FALSE(rows[1].kernel.tile);
}

TEST(MeasuredGemm, TypesAndSlices) {
  const auto row = [](const std::string& file, const std::string& kernel, const std::string& slices) {
    return read(header + file + ",gfx950,256," + kernel + ",64,64,4096," + slices + ",10\n").at(0);
  };
  EXPECT_TRUE(row("a8w8_blockscale_tuned_gemm.csv", ck, "0").block_scaled);
  EXPECT_FALSE(row("a8w8_tuned_gemm.csv", ck, "0").block_scaled);
  EXPECT_TRUE(row("a8w8_tuned_batched_gemm.csv", ck, "0").batched);
  EXPECT_EQ(row("a4w4_blockscale_tuned_gemm.csv", "_ZN5aiter_32x128E", "0").element_bits, 4);
  EXPECT_EQ(row("x_a8w8.csv", "a8w8_bpreshuffle_256x64x64x256_16x16_v1", "3").kernel.tile->split_k, 1);
  EXPECT_EQ(row("bf16.csv", "_ZN5aiter39bf16gemm_fp32bf16_tn_96x64_splitk_cleanE", "7").kernel.tile->split_k, 7);
  EXPECT_EQ(row("bf16.csv", "_ZN5aiter39bf16gemm_fp32bf16_tn_96x64_splitk_cleanE", "").kernel.tile->split_k, 1);
  EXPECT_TRUE(row("bf16.csv", "opus_gemm_gfx942_splitk_p1_256x64x64x64_2x2", "0").splits_by_itself);
  EXPECT_FALSE(row("bf16.csv", "opus_gemm_gfx942_splitk_p1_256x64x64x64_2x2", "10").splits_by_itself);
}

TEST(MeasuredGemm, KernelsOfThisLibraryHaveTheirNames) {
  const auto rows =
      read(header + "bf16,gfx942,304,gemm_64x64,1,2,3,2,4\nbf16,gfx950,256,gemm_direct_128x128,1,2,3,1,4\n" +
           "bf16,gfx942,304,gemm_direct_128x128,1,2,3,1,4\n");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].kernel.family, library::tilewright);
  EXPECT_EQ(rows[0].kernel.tile->n, 64);
  EXPECT_EQ(rows[0].kernel.tile->split_k, 2);
  EXPECT_EQ(rows[0].kernel.tile->split, tw::cdna_split::fix_up);
  EXPECT_EQ(rows[1].kernel.tile->m, 128);
  EXPECT_FALSE(rows[2].kernel.tile) << "not among the named policies of gfx942";
}

TEST(MeasuredGemm, RowsWithoutATimeAreLeftOut) {
  EXPECT_EQ(
      read(header + "f,gfx942,304,native,1,2,3,0,\nf,gfx942,304,native,1,2,3,0,0\nf,gfx942,304,,1,2,3,0,inf\n").size(),
      0u);
  EXPECT_EQ(read(header + "f,gfx1250,96,native,1,2,3,0,4\n").at(0).gpu, nullptr) << "a GPU without facts";
  EXPECT_EQ(read(header + "f,gfx942,100,native,1,2,3,0,4\n").at(0).gpu, nullptr);
}

void expect_refusal(const std::string& text, const std::string& wanted) {
  try {
    read(text);
    ADD_FAILURE() << "accepted: " << text;
  } catch (const program::refusal& why) {
    EXPECT_NE(std::string(why.what()).find(wanted), std::string::npos) << why.what();
  }
}

TEST(MeasuredGemm, WhatIsRefused) {
  expect_refusal("", "is empty");
  expect_refusal("file,gfx,cu_num,kernel,M,N,K,splitK\n", "no column 'us'");
  expect_refusal(header + "f,gfx942,304,native,1,2\n", "line 2 is too short");
  expect_refusal(header + "f,gfx942,304,native,1,2,3,0,4\nf,gfx942,304,native,1,2x,3,0,4\n",
                 "line 3: '2x' is no number for N");
  expect_refusal(header + "f,gfx942,304,native,-1,2,3,0,4\n", "line 2: '-1' is no number for M");
  expect_refusal(header + "f,gfx942,304,native,0,2,3,0,4\n", "line 2: M, N and K must be 1 or more");
  expect_refusal(header + "f,gfx942,304,native,1,2,3,0,fast\n", "'fast' is no number for us");
  expect_refusal(header + "f,gfx942,304," + ck + ",1,2,3,65,4\n", "line 2: splitK is above 64");
}

TEST(MeasuredGemm, AboutHalfOfTheShapesAreFitted) {
  int fitted = 0;
  measured_gemm g;
  for (g.m = 1; g.m <= 100; ++g.m)
    for (g.n = 64; g.n <= 640; g.n += 64)
      for (g.k = 128; g.k <= 1280; g.k += 128) fitted += is_fitted(g);
  EXPECT_NEAR(fitted, 5000, 300);
  g.us = 1;
  const bool first = is_fitted(g);
  g.us = 2;
  EXPECT_EQ(is_fitted(g), first) << "the shape alone decides";
}

}  // namespace
}  // namespace predict
