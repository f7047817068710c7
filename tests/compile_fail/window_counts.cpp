// SPDX-License-Identifier: MIT
// Two lengths for windows on a vector of rows; a tile of one dimension transposed; LDS that may not be written.
// EXPECT: make_tile_scatter_gather: one length is needed for each dimension of the view
// EXPECT: make_tile_window_linear: one length is needed for each dimension of the view
// EXPECT: transpose_tile2d: the tiles must have two dimensions
// EXPECT: async_load_tile: the view of LDS is of const elements
#include <tilewright/tile/async_load.hpp>
#include <tilewright/tile/shuffle_tile.hpp>
#include <tilewright/tile/tile_scatter_gather.hpp>

#include "sample_tile.hpp"

constexpr auto packed = tw::make_naive_tensor_descriptor_packed(lengths);
using line =
    tw::tile_distribution<tw::tile_distribution_encoding<sequence<>, tuple<sequence<64, 2>>, tuple<sequence<1>>,
                                                         tuple<sequence<0>>, sequence<1>, sequence<1>>::value>;

void f(float* p, tw::exec::lds_pointer lds, tw::static_distributed_tensor<float, line>& tile) {
  constexpr auto space = tw::address_space_enum::global;
  const auto vector =
      tw::make_tensor_view<space>(p, tw::make_naive_tensor_descriptor_packed(make_tuple(number<256>{})));
  (void)tw::make_tile_scatter_gather(vector, lengths, {0, 0}, distribution{}, tw::array<index_t, 1>{}, number<0>{});
  (void)tw::make_tile_window_linear(vector, lengths, {0, 0}, distribution{}, sequence<0>{});
  tw::transpose_tile2d(tile, tile);
  const auto in_lds = tw::make_tensor_view<tw::address_space_enum::lds, const float>(lds, packed);
  tw::async_load_tile(tw::make_tile_window(in_lds, lengths, {0, 0}, distribution{}),
                      tw::make_tile_window(tw::make_tensor_view<space>(p, packed), lengths, {0, 0}, distribution{}));
}
