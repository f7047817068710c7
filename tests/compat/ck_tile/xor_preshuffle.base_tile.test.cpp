// SPDX-License-Identifier: MIT
// Base tiles: the documented sizes, the lanes' places, and accesses to LDS without conflicts.
#include "../../core/distribution/naive_distribution.hpp"

#include <tilewright/compat/ck_tile/xor_preshuffle.hpp>
#include <tilewright/core/arch/arch.hpp>
#include <tilewright/core/base/types.hpp>
#include <tilewright/core/distribution/embed_encoding.hpp>
#include <tilewright/core/lds/lds_access.hpp>

#include <gtest/gtest.h>

#include <set>

namespace tilewright {
namespace {

template <class Tile>
constexpr bool is(index_t rows, index_t cols) {
  return Tile::rows == rows && Tile::cols == cols;
}

TEST(BaseTile, HasTheDocumentedSizesWith32Lanes) {
  static_assert(is<base_tile<half_t, 4, 8>>(4, 64) && is<base_tile<half_t, 8, 4>>(8, 32) &&
                is<base_tile<half_t, 16, 2>>(16, 16));
  static_assert(is<base_tile<float, 4, 8>>(4, 32) && is<base_tile<float, 8, 4>>(8, 16) &&
                is<base_tile<float, 16, 2>>(16, 8));
  static_assert(base_tile<half_t, 4, 8>::row_bytes * 8 == 1024 && base_tile<float, 4, 8>::row_bytes * 8 == 1024,
                "no dimension of these exceeds 1024 bits");
  static_assert(base_tile<half_t, 4, 8>::bytes == 4 * 128, "the wave accesses four times 128 bytes");
}

TEST(BaseTile, Of64Lanes) {
  static_assert(is<base_tile<half_t, 8, 8>>(8, 64) && is<base_tile<float, 16, 4>>(16, 16));
  static_assert(base_tile<half_t, 8, 8>::bytes == 1024 && base_tile<half_t, 8, 8>::wave_size == 64);
}

TEST(BaseTile, LanesLieRowByRow) {
  using tile = base_tile<half_t, 8, 4>;
  EXPECT_EQ(naive::ownership_fault(tile::encoding), "");
  for (index_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(tile::distribution::calculate_index({{lane}}), (multi_index<2>{{lane / 4, lane % 4 * 8}}));
  }
  static_assert(tile::distribution::num_elements == 8);
}

/// Offset of each element of a block of base tiles: tile by tile, lane by lane.
template <class Tile, index_t BlockRows, index_t BlockCols>
void expect_storage_order() {
  constexpr auto descriptor = Tile::template make_lds_descriptor<BlockRows, BlockCols>();
  static_assert(descriptor.get_lengths() == multi_index<2>{{BlockRows, BlockCols}});
  index_t expected = 0;
  for (index_t tile_row = 0; tile_row < BlockRows; tile_row += Tile::rows) {
    for (index_t tile_col = 0; tile_col < BlockCols; tile_col += Tile::cols) {
      for (index_t lane = 0; lane < Tile::wave_size; ++lane) {
        const auto first = Tile::distribution::calculate_index({{lane}});
        for (index_t i = 0; i < Tile::vector; ++i)
          ASSERT_EQ(descriptor.calculate_offset({tile_row + first[0], tile_col + first[1] + i}), expected++);
      }
    }
  }
}

TEST(BaseTile, IsStoredLaneByLane) {
  expect_storage_order<base_tile<half_t, 8, 4>, 32, 64>();
  expect_storage_order<base_tile<float, 16, 4>, 32, 32>();
  expect_storage_order<base_tile<char, 2, 16>, 4, 256>();
}

TEST(BaseTile, MayBeOneRowOrOneColumn) {
  expect_storage_order<base_tile<half_t, 1, 32>, 1, 512>();
  struct wide {
    float values[4];
  };
  static_assert(is<base_tile<wide, 64, 1>>(64, 1));
  expect_storage_order<base_tile<wide, 64, 1>, 128, 1>();
}

template <class Arch, class Tile>
void expect_no_conflicts() {
  constexpr auto descriptor = Tile::template make_lds_descriptor<4 * Tile::rows, 2 * Tile::cols>();
  // Two waves next to each other, each of which takes four base tiles.
  constexpr distribution_encoding block =
      embed(tile_distribution_encoding<sequence<>, tuple<sequence<4>, sequence<2>>, tuple<sequence<2>, sequence<>>,
                                       tuple<sequence<0>, sequence<>>, sequence<1>, sequence<0>>::value,
            Tile::encoding);
  for (const auto kind : {lds_access_kind::write, lds_access_kind::read}) {
    const auto cost =
        analyze_lds_access<Arch>(descriptor, tile_distribution<block>{}, sizeof(typename Tile::element_type), kind);
    EXPECT_EQ(cost.executions, 8);
    EXPECT_TRUE(cost.is_conflict_free()) << Arch::value.name;
  }
}

TEST(BaseTile, IsAccessedWithoutBankConflicts) {
  expect_no_conflicts<arch::gfx942, base_tile<half_t, 8, 8>>();
  expect_no_conflicts<arch::gfx942, base_tile<half_t, 16, 4>>();
  expect_no_conflicts<arch::gfx950, base_tile<float, 32, 2>>();
  expect_no_conflicts<arch::gfx1100, base_tile<half_t, 4, 8>>();
  expect_no_conflicts<arch::sm80, base_tile<half_t, 16, 2>>();
  expect_no_conflicts<arch::sm90, base_tile<float, 8, 4>>();
}

}  // namespace
}  // namespace tilewright
