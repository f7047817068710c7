// SPDX-License-Identifier: MIT
// Swizzled layouts: the descriptor says the same as the formula, and every byte has its own place.
#include <tilewright/core/base/types.hpp>
#include <tilewright/core/lds/layout_presets.hpp>
#include <tilewright/core/lds/swizzled_layout.hpp>

#include <gtest/gtest.h>

#include <set>

namespace tilewright {
namespace {

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
  expect_same_as_descriptor<swizzled_rows({16, 64, 2}, 128, {1, 4, 2, 0})>();
  expect_same_as_descriptor<swizzled_rows({32, 32, 2}, 128, {5, 0, 7, 2})>();
  expect_same_as_descriptor<swizzled_rows({32, 32, 2}, 256, {15, 3, 8})>();
  expect_same_as_descriptor<swizzled_rows({8, 16, 4}, 64, {3, 1, 2})>();
  expect_same_as_descriptor<swizzled_rows({8, 64, 1}, 512)>();
  expect_same_as_descriptor<swizzled_rows({1, 256, 2}, 128, {1, 3})>();
}

TEST(SwizzledLayout, RowsLongerThanABankRowAreCut) {
  constexpr swizzled_layout cut = swizzled_rows({4, 256, 2}, 128, {1, 2, 4, 7});
  static_assert(cut.num_bank_rows() == 16 && cut.chunks_per_bank_row() == 8);
  expect_same_as_descriptor<cut>();
}

constexpr swizzled_layout with_places(swizzled_layout layout, std::initializer_list<unsigned> groups) {
  layout.places = {};
  for (const unsigned group : groups) layout.places.push_back(group);
  return layout;
}

TEST(SwizzledLayout, PlacesMayHaveGroups) {
  expect_same_as_descriptor<with_places(swizzled_rows({32, 32, 2}, 0, {5, 15, 3, 8}), {7, 8})>();
  expect_same_as_descriptor<with_places(swizzled_rows({16, 32, 2}, 0, {2, 3, 7, 0}), {3, 4})>();
  expect_same_as_descriptor<with_places(swizzled_rows({4, 256, 2}, 0, {3, 2, 5, 29, 17}), {3, 4, 24})>();
}

TEST(SwizzledLayout, AnyBitsMayNumberPlaces) {
  // [K0][M][K1]: the bit of the column above the 16 rows, nothing flipped.
  constexpr swizzled_layout k_first = with_places(swizzled_rows({16, 16, 2}, 0), {0b11110});
  static_assert(!k_first.is_plain() && k_first.address(3, 16) == 256 + 3 * 16);
  expect_same_as_descriptor<k_first>();
  expect_same_as_descriptor<with_places(swizzled_rows({16, 32, 2}, 0, {3, 5, 6}), {0b101010})>();
  expect_same_as_descriptor<with_places(swizzled_rows({16, 64, 2}, 0, {1, 2, 9, 4}), {0b101, 0b1010000})>();
  // More runs of bits than one merge takes.
  expect_same_as_descriptor<with_places(swizzled_rows({2048, 1, 4}, 0, {1, 2, 4, 8, 16}, 4), {0b01010101010})>();
}

TEST(SwizzledLayout, ChunksMayBeNarrow) {
  expect_same_as_descriptor<swizzled_rows({8, 32, 4}, 128, {1, 2, 4}, 4)>();
  expect_same_as_descriptor<swizzled_rows({8, 32, 2}, 128, {15, 3}, 8)>();
}

TEST(SwizzledLayout, WithoutFlipsTheRowsArePlain) {
  constexpr auto descriptor = make_lds_descriptor<swizzled_rows({8, 32, 2}, 128, {0, 0})>();
  static_assert(detail::is_linear(descriptor.graph));
  expect_same_as_descriptor<swizzled_rows({8, 32, 2}, 128, {0, 0})>();
}

// The documented XOR layout is one of them: bit i of the bank row flips bit i of the chunk.
TEST(SwizzledLayout, ContainsTheDocumentedXorLayout) {
  constexpr auto documented = make_lds_index_swapping_descriptor<32, 8, 2, 64, half_t>();
  constexpr swizzled_layout same = swizzled_rows({64, 32, 2}, 128, {1, 2, 4});
  for (index_t row = 0; row < 64; ++row) {
    for (index_t col = 0; col < 32; ++col)
      EXPECT_EQ(same.address(row, 2 * col), 2 * documented.calculate_offset({row, col}));
  }
}

}  // namespace
}  // namespace tilewright
