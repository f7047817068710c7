// SPDX-License-Identifier: MIT
// Loads and stores of tiles.
#include <tilewright/tile/copy/load_store.hpp>

#include "sample_tile.hpp"

// A window loaded into a tile of another element type.
// EXPECT: load_tile: the tile must have the element type of the view and the distribution of the window
void load_into_tile(const float* p, tw::static_distributed_tensor<int, distribution>& tile) {
  tw::load_tile(tile, tw::make_tile_window(view(p), lengths, {0, 0}, distribution{}));
}

// A tile stored to a window of another distribution.
// EXPECT: store_tile: the tile's distribution is not the window's; use shuffle_tile
// EXPECT(clang): requirement 'has_same_distribution': store_tile
void store_distribution(float* p, const tw::static_distributed_tensor<float, by_columns>& tile) {
  tw::store_tile(tw::make_tile_window(view(p), lengths, {0, 0}, distribution{}), tile);
}

// A tile of floats into a tensor of ints.
// EXPECT: store_tile: the tile's element type is not the view's; use cast_tile
auto store_element_type_view(int* p) {
  return tw::make_naive_tensor_view<tw::address_space_enum::global>(p, make_tuple(8, 32), make_tuple(32, number<1>{}));
}
void store_element_type_f(const tw::static_distributed_tensor<float, distribution>& tile) {
  tw::store_tile(tw::make_tile_window(store_element_type_view(nullptr), make_tuple(number<8>{}, number<32>{}), {0, 0},
                                      distribution{}),
                 tile);
}

// A tile of floats into a tensor of ints in LDS.
// EXPECT: store_tile: the tile's element type is not the view's; use cast_tile
auto store_offset_element_type_view() {
  return tw::make_tensor_view<tw::address_space_enum::lds, int>(
      tw::exec::lds_pointer{}, tw::make_naive_tensor_descriptor_packed(make_tuple(number<8>{}, number<32>{})));
}
void store_offset_element_type_f(const tw::static_distributed_tensor<float, distribution>& tile) {
  tw::store_tile_with_offset(tw::make_tile_window(store_offset_element_type_view(),
                                                  make_tuple(number<8>{}, number<32>{}), {0, 0}, distribution{}),
                             tile, 64);
}

// A second buffer in global memory.
// EXPECT: store_tile_with_offset: the window must be in LDS
void store_offset_global(const tw::static_distributed_tensor<float, distribution>& tile) {
  tw::store_tile_with_offset(
      tw::make_tile_window(view<float>(nullptr), make_tuple(number<8>{}, number<32>{}), {0, 0}, distribution{}), tile,
      64);
}

// A store into constant elements in LDS.
// EXPECT: store_tile: the view is of const elements
auto store_offset_read_only_view() {
  return tw::make_tensor_view<tw::address_space_enum::lds, const float>(
      tw::exec::lds_pointer{}, tw::make_naive_tensor_descriptor_packed(make_tuple(number<8>{}, number<32>{})));
}
void store_offset_read_only_f(const tw::static_distributed_tensor<float, distribution>& tile) {
  tw::store_tile_with_offset(tw::make_tile_window(store_offset_read_only_view(), make_tuple(number<8>{}, number<32>{}),
                                                  {0, 0}, distribution{}),
                             tile, 64);
}

// A store into constant elements.
// EXPECT: store_tile: the view is of const elements
void store_read_only(const tw::static_distributed_tensor<float, distribution>& tile) {
  tw::store_tile(
      tw::make_tile_window(view<const float>(nullptr), make_tuple(number<8>{}, number<32>{}), {0, 0}, distribution{}),
      tile);
}
