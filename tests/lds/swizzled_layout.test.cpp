// SPDX-License-Identifier: MIT
// Swizzled layouts: the descriptor says the same as the formula, and every byte has its own place.
#include <tilewright/lds/lds_index_swapping.hpp>
#include <tilewright/lds/swizzled_layout.hpp>
#include <tilewright/numeric/types.hpp>

#include <gtest/gtest.h>

#include <set>

namespace tilewright {
namespace {

template <class... Flips>
constexpr swizzled_layout layout_of(const lds_tile& tile, index_t layer, Flips... flips) {
  swizzled_layout layout{tile, layer, {}};
  (layout.flips.push_back(flips), ...);
  return layout;
}

template <swizzled_layout Layout>
void expect_same_as_descriptor() {
  constexpr auto descriptor = make_lds_descriptor<Layout>();
  static_assert(descriptor.is_static());
  constexpr lds_tile tile = Layout.tile;
  EXPECT_EQ(descriptor.get_lengths(), (multi_index<2>{{tile.rows, tile.cols}}));
  EXPECT_EQ(descriptor.get_element_space_size(), tile.rows * tile.cols);
  std::set<index_t> places;
  for (index_t row = 0; row < tile.rows; ++row) {
    for (index_t col = 0; col < tile.cols; ++col) {
      const index_t byte = col * tile.element_bytes;
      EXPECT_EQ(descriptor.calculate_offset({row, col}) * tile.element_bytes, Layout.address(row, byte))
          << row << ", " << col;
      places.insert(Layout.address(row, byte));
    }
  }
  EXPECT_EQ(index_t(places.size()), tile.rows * tile.cols);
}

TEST(SwizzledLayout, DescriptorFollowsTheFormula) {
  expect_same_as_descriptor<layout_of({16, 64, 2}, 1, 1, 4, 2, 0)>();
  expect_same_as_descriptor<layout_of({32, 32, 2}, 2, 5, 0, 7, 2)>();
  expect_same_as_descriptor<layout_of({32, 32, 2}, 4, 15, 3, 8)>();
  expect_same_as_descriptor<layout_of({8, 16, 4}, 1, 3, 1, 2)>();
  expect_same_as_descriptor<layout_of({8, 64, 1}, 8)>();
}

constexpr swizzled_layout with(swizzled_layout layout, index_t segments, index_t chunk_bytes) {
  layout.segments = segments;
  layout.chunk_bytes = chunk_bytes;
  return layout;
}

TEST(SwizzledLayout, RowsLongerThanABankRowAreCut) {
  constexpr swizzled_layout cut = with(layout_of({4, 256, 2}, 1, 1, 2, 4, 7), 4, 16);
  static_assert(cut.num_bank_rows() == 16 && cut.chunks_per_bank_row() == 8);
  expect_same_as_descriptor<cut>();
}

constexpr swizzled_layout with_half(swizzled_layout layout, index_t half_flip) {
  layout.half_flip = half_flip;
  return layout;
}

TEST(SwizzledLayout, HalvesOfABankRowMayDiffer) {
  expect_same_as_descriptor<with_half(layout_of({32, 32, 2}, 4, 15, 3, 8), 5)>();
  expect_same_as_descriptor<with_half(layout_of({16, 32, 2}, 2, 3, 7, 0), 2)>();
  expect_same_as_descriptor<with_half(layout_of({8, 64, 2}, 1, 3, 0, 0), 3)>();
  expect_same_as_descriptor<with_half(with(layout_of({4, 256, 2}, 1, 1, 15, 4), 2, 16), 6)>();
}

TEST(SwizzledLayout, ChunksMayBeNarrow) {
  expect_same_as_descriptor<with(layout_of({8, 32, 4}, 1, 1, 2, 4), 1, 4)>();
  expect_same_as_descriptor<with(layout_of({8, 32, 2}, 2, 15, 3), 1, 8)>();
}

TEST(SwizzledLayout, WithoutFlipsTheRowsArePlain) {
  constexpr auto descriptor = make_lds_descriptor<layout_of({8, 32, 2}, 2, 0, 0)>();
  static_assert(is_linear(descriptor.graph));
  expect_same_as_descriptor<layout_of({8, 32, 2}, 2, 0, 0)>();
}

// The documented XOR layout is one of them: bit i of the bank row flips bit i of the chunk.
TEST(SwizzledLayout, ContainsTheDocumentedXorLayout) {
  constexpr auto documented = make_lds_index_swapping_descriptor<32, 8, 2, 64, half_t>();
  constexpr swizzled_layout same = layout_of({64, 32, 2}, 2, 1, 2, 4, 0, 0);
  for (index_t row = 0; row < 64; ++row) {
    for (index_t col = 0; col < 32; ++col)
      EXPECT_EQ(same.address(row, 2 * col), 2 * documented.calculate_offset({row, col}));
  }
}

}  // namespace
}  // namespace tilewright
