// SPDX-License-Identifier: MIT
// A store into constant elements.
// EXPECT: store_tile: the view is of const elements
#include <tilewright/tile/load_store.hpp>

#include "sample_tile.hpp"

void f(const tw::static_distributed_tensor<float, distribution>& tile) {
  tw::store_tile(tw::make_tile_window(view<const float>(nullptr), tw::make_tuple(tw::number<8>{}, tw::number<32>{}),
                                      {0, 0}, distribution{}),
                 tile);
}
