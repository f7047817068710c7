// SPDX-License-Identifier: MIT
// A tile of floats into a tensor of ints in LDS.
// EXPECT: store_tile: the tile's element type is not the view's; use cast_tile
#include <tilewright/tile/load_store.hpp>

#include "sample_tile.hpp"

auto view() {
  return tw::make_tensor_view<tw::address_space_enum::lds, int>(
      tw::exec::lds_pointer{},
      tw::make_naive_tensor_descriptor_packed(tw::make_tuple(tw::number<8>{}, tw::number<32>{})));
}
void f(const tw::static_distributed_tensor<float, distribution>& tile) {
  tw::store_tile_with_offset(
      tw::make_tile_window(view(), tw::make_tuple(tw::number<8>{}, tw::number<32>{}), {0, 0}, distribution{}), tile,
      64);
}
