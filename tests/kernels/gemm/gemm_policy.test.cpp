// SPDX-License-Identifier: MIT
// The default policies: sound tiles, and no bank conflicts on any target for any layout of the operands.
#include <tilewright/core/arch/arch.hpp>
#include <tilewright/kernels/gemm/lds_prediction.hpp>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

template <class Policy>
void expect_no_conflicts() {
  static_assert(require_conflict_free_gemm<Policy>());
  constexpr gemm_lds_prediction p = predict_lds<Policy>();
  static_assert(p.a_write.is_conflict_free() && p.b_write.is_conflict_free() && p.a_read.is_conflict_free() &&
                p.b_read.is_conflict_free());
  static_assert(Policy::a_layout.worst_degree == 1 && Policy::b_layout.worst_degree == 1);
  // Wide instructions: 16 bytes per lane wherever memory is contiguous along k, and else but for transposing reads.
  constexpr bool amd = arch::is_amd(Policy::arch::value);
  static_assert(arch::access_bytes(p.a_read.op) == (amd && Policy::a_transposed ? 8 : 16));
  static_assert(arch::access_bytes(p.b_read.op) == (amd && Policy::b_transposed ? 8 : 16));
  EXPECT_TRUE(Policy::a_major != operand_major::k || p.a_write.op == arch::lds_op::write_b128);
}

template <class Arch>
void expect_good_defaults() {
  constexpr block_tile tile = default_block_tile<Arch, half_t>();
  static_assert(tile.is_sound() && Arch::value.supports(tile.op));
  using enum operand_major;
  expect_no_conflicts<gemm_policy<Arch, half_t, k, mn, 8>>();
  expect_no_conflicts<gemm_policy<Arch, bfloat16_t, mn, k, 8>>();
  using wide = gemm_kernel<gemm_policy<Arch, half_t, k, mn, 8>>;
  using narrow = gemm_kernel<gemm_policy<Arch, half_t, k, mn, 1>>;
  static_assert(narrow::block_size == 256 && narrow::lds_bytes == 2 * (128 + 128) * 32 * 2);
  if constexpr (arch::is_amd(Arch::value)) {
    static_assert(wide::block_size == 256 && wide::lds_bytes == narrow::lds_bytes);
  } else {
    static_assert(wide::block_size == 128 && wide::lds_bytes == 4 * (128 + 128) * 32 * 2);
    // So that one block's products hide the other's copies and barriers.
    static_assert(wide::blocks_at_once == 2 && narrow::blocks_at_once == 1);
  }
}

TEST(GemmPolicy, DefaultsAreFreeOfConflicts) {
  expect_good_defaults<arch::gfx90a>();
  expect_good_defaults<arch::gfx942>();
  expect_good_defaults<arch::gfx950>();
  expect_good_defaults<arch::gfx1100>();
  expect_good_defaults<arch::gfx1201>();
  expect_good_defaults<arch::sm80>();
  expect_good_defaults<arch::sm90>();
}

template <index_t Vector, block_tile Tile>
using pipeline_on_sm80 =
    typename gemm_policy<arch::sm80, half_t, operand_major::k, operand_major::mn, Vector, Tile>::pipeline;

TEST(GemmPolicy, DefaultPipelinesCopyAsMemoryAndTileAllow) {
  using enum arch::matrix_op;
  constexpr block_tile usual{128, 128, 32, 2, 2, mma_m16n8k16_x2}, large{256, 256, 32, 4, 4, mma_m16n8k16_x2},
      huge{256, 256, 64, 4, 4, mma_m16n8k16_x2}, wide{16, 512, 64, 1, 4, mma_m16n8k16_x2},
      flat{64, 64, 16, 1, 4, mma_m16n8k16_x2};
  EXPECT_TRUE((std::is_same_v<pipeline_on_sm80<8, usual>, multi_stage_pipeline<4>>));
  EXPECT_TRUE((std::is_same_v<pipeline_on_sm80<4, usual>, double_buffered_pipeline>)) << "8 bytes at once";
  EXPECT_TRUE((std::is_same_v<pipeline_on_sm80<1, usual>, double_buffered_pipeline>));
  EXPECT_TRUE((std::is_same_v<pipeline_on_sm80<8, large>, multi_stage_pipeline<4>>));
  EXPECT_TRUE((std::is_same_v<pipeline_on_sm80<8, huge>, multi_stage_pipeline<2>>)) << "163 KiB of LDS";
  EXPECT_TRUE((std::is_same_v<pipeline_on_sm80<8, flat>, multi_stage_pipeline<4>>));
  EXPECT_TRUE((std::is_same_v<pipeline_on_sm80<8, wide>, double_buffered_pipeline>)) << "a row of B needs 64 lanes";
}

TEST(LdsPrediction, CountsTilesAlongKOfEveryBlock) {
  using policy = gemm_policy<arch::gfx942, half_t, operand_major::k, operand_major::k, 1>;
  EXPECT_EQ(num_lds_phases<policy>({.m = 128, .n = 128, .k = 64}).tile_reads, 1);
  EXPECT_EQ(num_lds_phases<policy>({.m = 129, .n = 257, .k = 65, .batch = 5}).tile_reads, 2 * 3 * 5 * 2);
}

TEST(SplitK, TheFirstTileIsThePartialOne) {
  for (index_t k = 1; k < 100; ++k) {
    const k_tiles tiles = tiles_along_k(k, 32);
    EXPECT_EQ(tiles.count, (k + 31) / 32);
    EXPECT_EQ(tiles.first_origin + 32 * tiles.count, k) << "the last tile ends with k";
    EXPECT_LE(tiles.first_origin, 0);
    EXPECT_GT(tiles.first_origin, -32);
  }
}

}  // namespace
}  // namespace tilewright
