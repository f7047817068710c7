// SPDX-License-Identifier: MIT
// The presets against their formulas, and the verdicts that are worth remembering.
#include <tilewright/core/arch/arch.hpp>
#include <tilewright/core/base/types.hpp>
#include <tilewright/core/lds/layout_presets.hpp>
#include <tilewright/core/lds/lds_access.hpp>

#include <gtest/gtest.h>

#include <functional>

namespace tilewright {
namespace {

/// Byte of an element as the graph has it.
index_t byte_of(const tensor_graph& graph, index_t row, index_t col, index_t element_bytes) {
  index_t hidden[tensor_graph::max_hidden] = {};
  const index_t index[] = {row, col};
  detail::lower_all(graph, nullptr, index, hidden);
  return hidden[0] * element_bytes;
}

void expect_bytes(const tensor_graph& graph, const lds_tile& tile,
                  const std::function<index_t(index_t, index_t)>& expected) {
  for (index_t row = 0; row < tile.rows; ++row) {
    for (index_t col = 0; col < tile.cols; ++col)
      ASSERT_EQ(byte_of(graph, row, col, tile.element_bytes), expected(row, col * tile.element_bytes))
          << row << ", " << col;
  }
}

TEST(LayoutPresets, FollowTheirFormulas) {
  for (const lds_tile tile : {lds_tile{32, 32, 2}, lds_tile{64, 128, 1}, lds_tile{16, 64, 4}}) {
    const index_t pitch = tile.row_bytes();
    expect_bytes(plain_layout(tile), tile, [&](index_t row, index_t byte) { return row * pitch + byte; });
    expect_bytes(padded_layout(tile, 16), tile, [&](index_t row, index_t byte) { return row * (pitch + 16) + byte; });
    for (const index_t bits : {1, 2, 3}) {
      const unsigned mask = ((1u << bits) - 1) << 7;
      expect_bytes(detail::make_lds_graph(byte_swizzle_layout(tile, bits, 4, 3)), tile, [&](index_t row, index_t byte) {
        const unsigned o = unsigned(row * pitch + byte);
        return index_t(o ^ (o & mask) >> 3);
      });
    }
  }
  expect_bytes(detail::make_lds_graph(byte_swizzle_layout({32, 64, 4}, 2, 3, 4)), {32, 64, 4},
               [](index_t row, index_t byte) {
                 const unsigned o = unsigned(row * 256 + byte);
                 return index_t(o ^ (o & 0x180u) >> 4);
               });
}

template <index_t KPerBlock, index_t Layer>
void expect_documented_preshuffle() {
  const lds_tile tile{64, KPerBlock, 2};
  expect_bytes(detail::make_lds_graph(xor_preshuffle_layout(tile, Layer)), tile, [](index_t row, index_t byte) {
    return 2 * lds_index_swapping<KPerBlock, 8, Layer, 64, half_t>::descriptor.calculate_offset({row, byte / 2});
  });
}

TEST(LayoutPresets, PreshuffleIsTheDocumentedOne) {
  expect_documented_preshuffle<32, 1>();
  expect_documented_preshuffle<32, 2>();
  expect_documented_preshuffle<32, 4>();
  expect_documented_preshuffle<64, 1>();
  expect_documented_preshuffle<64, 2>();
  expect_documented_preshuffle<128, 1>();
}

TEST(LayoutPresets, AreOrdinaryDescriptors) {
  constexpr lds_tile tile{32, 64, 2};
  constexpr auto padded = make_lds_descriptor<padded_layout(tile, 16)>();
  static_assert(padded.get_element_space_size() == 31 * 72 + 64 && padded.calculate_offset({2, 3}) == 147);
  constexpr auto base_tiles = make_lds_descriptor<base_tile_layout(tile, 8, 4)>();
  static_assert(base_tiles.get_element_space_size() == 32 * 64 && base_tiles.calculate_offset({0, 32}) == 256);
  constexpr auto row_xor = make_lds_descriptor<row_xor_layout(tile)>();
  static_assert(row_xor.get_element_space_size() == 32 * 64 && row_xor.calculate_offset({1, 0}) == 64 + 8);
  EXPECT_EQ(padded.get_lengths(), row_xor.get_lengths());
}

}  // namespace
}  // namespace tilewright
