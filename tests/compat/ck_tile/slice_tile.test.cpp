// SPDX-License-Identifier: MIT
// Parts of tiles and windows.
#include <tilewright/compat/ck_tile/slice_tile.hpp>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

/// 12 x 8: rows are 3 (y) x 4 lanes, columns 2 lanes x 4 (y).
using distribution = tile_distribution<
    tile_distribution_encoding<sequence<>, tuple<sequence<3, 4>, sequence<2, 4>>, tuple<sequence<1, 2>>,
                               tuple<sequence<1, 0>>, sequence<1, 2>, sequence<0, 1>>::value>;
using tile_type = static_distributed_tensor<int, distribution>;

constexpr tile_type numbered() {
  tile_type tile{};
  for (index_t d = 0; d < 12; ++d) tile.thread_buffer[d] = d;
  return tile;
}

TEST(GetSliceTile, IsAnotherTile) {
  constexpr auto part = get_slice_tile(numbered(), sequence<4, 0>{}, sequence<12, 8>{});
  using part_type = std::remove_const_t<decltype(part)>;
  static_assert(part_type::distribution_type::get_lengths() == multi_index<2>{{8, 8}} && part_type::num_elements == 8);
  for (index_t d = 0; d < 8; ++d) EXPECT_EQ(part.thread_buffer[d], d + 4);
}

TEST(SetSliceTile, IsTheInverse) {
  constexpr auto result = [] {
    tile_type tile = numbered();
    auto part = get_slice_tile(tile, sequence<0, 0>{}, sequence<4, 8>{});
    for (index_t d = 0; d < 4; ++d) part.thread_buffer[d] = 100 + d;
    set_slice_tile(tile, part, sequence<8, 0>{}, sequence<12, 8>{});
    return tile;
  }();
  for (index_t d = 0; d < 12; ++d) EXPECT_EQ(result.thread_buffer[d], d < 8 ? d : 92 + d);
}

TEST(GetSliceTile, OfWindowsWithoutThreads) {
  const float memory[1] = {};
  const auto view =
      make_naive_tensor_view<address_space_enum::global>(memory, make_tuple(64, 64), make_tuple(64, number<1>{}));
  const auto window = make_tile_window(view, make_tuple(number<32>{}, number<16>{}), {-8, 24});
  const auto part = get_slice_tile(window, sequence<8, 4>{}, sequence<32, 10>{});
  EXPECT_EQ(part.get_window_origin(), (multi_index<2>{{0, 28}}));
  EXPECT_EQ(part.get_window_lengths(), (multi_index<2>{{24, 6}}));
  EXPECT_EQ(part.get_bottom_tensor_view().buffer.base, view.buffer.base);
  const auto whole = get_slice_tile(window, sequence<0, 0>{}, sequence<32, 16>{});
  EXPECT_EQ(whole.get_window_origin(), window.get_window_origin());
  EXPECT_EQ(whole.get_window_lengths(), window.get_window_lengths());
}

}  // namespace
}  // namespace tilewright
