// SPDX-License-Identifier: MIT
// A tile of floats into a tensor of ints.
// EXPECT: store_tile: the tile's element type is not the view's; use cast_tile
#include <tilewright/tile/load_store.hpp>

#include "sample_tile.hpp"

auto view(int* p) {
  return tw::make_naive_tensor_view<tw::address_space_enum::global>(p, tw::make_tuple(8, 32),
                                                                    tw::make_tuple(32, tw::number<1>{}));
}
void f(const tw::static_distributed_tensor<float, distribution>& tile) {
  tw::store_tile(
      tw::make_tile_window(view(nullptr), tw::make_tuple(tw::number<8>{}, tw::number<32>{}), {0, 0}, distribution{}),
      tile);
}
