// SPDX-License-Identifier: MIT
// Reductions.
#include <tilewright/tile/registers/reduce_tile.hpp>

#include "sample_tile.hpp"

// A sum of doubles.
// EXPECT: reduce: lanes exchange values of 4 bytes; cast_tile the tile to float or int first
auto element_type(const tw::static_distributed_tensor<double, distribution>& tile) {
  return tw::row_reduce(tile, tw::plus);
}

// A reduction along rows that two waves share, without LDS.
// EXPECT: reduce: waves share the elements that are combined; pass reduce_lds_bytes<Tile, dimensions...> bytes of LDS
using two_waves = tw::tile_distribution<tw::tile_distribution_encoding<
    sequence<>, tuple<sequence<8>, sequence<2, 8, 4>>, tuple<sequence<2>, sequence<1, 2>>,
    tuple<sequence<0>, sequence<0, 1>>, sequence<2>, sequence<2>>::value>;

auto needs_lds(const tw::static_distributed_tensor<float, two_waves>& tile) { return tw::row_reduce(tile, tw::max); }
