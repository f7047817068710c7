// SPDX-License-Identifier: MIT
// The default policies: sound tiles, and no bank conflicts on any target for any layout of the operands.
#include <tilewright/arch/arch.hpp>
#include <tilewright/gemm/lds_prediction.hpp>

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
  // Wide instructions: 16 bytes per lane wherever memory is contiguous along k.
  static_assert(arch::access_bytes(p.a_read.op) == 16 && arch::access_bytes(p.b_read.op) == 16);
  EXPECT_TRUE(Policy::a_major != operand_major::k || p.a_write.op == arch::lds_op::write_b128);
}

template <class Arch>
void expect_good_defaults() {
  constexpr block_tile tile = default_block_tile<Arch, half_t>();
  static_assert(tile.is_sound() && Arch::value.supports(tile.op) && tile.block_size() == 256);
  using enum operand_major;
  expect_no_conflicts<gemm_policy<Arch, half_t, k, mn, 8>>();
  expect_no_conflicts<gemm_policy<Arch, bfloat16_t, mn, k, 8>>();
  using kernel = gemm_kernel<gemm_policy<Arch, half_t, k, mn, 8>>;
  static_assert(kernel::block_size == 256 && kernel::lds_bytes == 2 * (128 + 128) * 32 * 2);
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

TEST(LdsPrediction, CountsTilesAlongKOfEveryBlock) {
  using policy = gemm_policy<arch::gfx942, half_t, operand_major::k, operand_major::k, 1>;
  EXPECT_EQ(num_lds_rounds<policy>({.m = 128, .n = 128, .k = 64}).tile_reads, 1);
  EXPECT_EQ(num_lds_rounds<policy>({.m = 129, .n = 257, .k = 65, .batch = 5}).tile_reads, 2 * 3 * 5 * 2);
}

TEST(SplitK, TheFirstTileIsThePartialOne) {
  for (index_t k = 1; k < 100; ++k) {
    const k_tiles tiles = split_k_into_tiles(k, 32);
    EXPECT_EQ(tiles.count, (k + 31) / 32);
    EXPECT_EQ(tiles.first_origin + 32 * tiles.count, k) << "the last tile ends with k";
    EXPECT_LE(tiles.first_origin, 0);
    EXPECT_GT(tiles.first_origin, -32);
  }
}

}  // namespace
}  // namespace tilewright
