// SPDX-License-Identifier: MIT
#include <tilewright/block/operands/narrow_formats.hpp>
#include <tilewright/kernels/gemm/choice/hopper_narrow_choice.hpp>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

template <index_t Nth, class Format>
constexpr bool has_kernel() {
  constexpr hopper_narrow_tile t = hopper_narrow_tiles[Nth];
  constexpr index_t tile_k = t.tile_k_of(Format::bits, Format::group, sizeof(typename Format::scale_type));
  using block = detail::narrow_block<hopper_narrow_policy<bfloat16_t, operand_major::k, Format, t.tile, tile_k>>;
  return block::weights.is_sound() && block::num_stages >= 2 && tile_k <= t.tile_k;
}
template <class Format>
constexpr bool has_kernels() {
  return has_kernel<0, Format>() && has_kernel<1, Format>() && has_kernel<2, Format>() && has_kernel<3, Format>() &&
         has_kernel<4, Format>();
}
static_assert(hopper_narrow_tiles.size() == 5);
static_assert(has_kernels<int4_groups<128>>() && has_kernels<int4_zero_groups<32, float>>() &&
              has_kernels<mxfp4_format>() && has_kernels<nvfp4_format>() && has_kernels<e4m3_groups<>>() &&
              has_kernels<mxfp8_format>());

TEST(HopperNarrowChoice, TileFollowsTheRows) {
  EXPECT_EQ(choose_narrow_tile(20, 4096, 4096).tile.n, 32);
  EXPECT_EQ(choose_narrow_tile(64, 28672, 4096).tile.n, 64);
  EXPECT_EQ(choose_narrow_tile(128, 4096, 14336).tile.n, 128);
  EXPECT_EQ(choose_narrow_tile(256, 28672, 4096).tile.n, 256);
  EXPECT_EQ(choose_narrow_tile(4096, 8192, 8192).tile.n, 256);
}

TEST(HopperNarrowChoice, StagesHoldWholePieces) {
  const hopper_narrow_tile t = hopper_narrow_tiles[0];
  EXPECT_EQ(t.tile_k_of(4, 128, 2), 256);
  EXPECT_EQ(t.tile_k_of(8, 0, 4), 128) << "rows of 128 bytes";
  EXPECT_EQ(t.tile_k_of(4, 32, 4), 128) << "four scales of 4 bytes";
  EXPECT_EQ(t.tile_k_of(4, 16, 4), 64);
}

}  // namespace
}  // namespace tilewright
