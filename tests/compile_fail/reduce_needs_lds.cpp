// SPDX-License-Identifier: MIT
// A reduction along rows that two waves share, without LDS.
// EXPECT: reduce: waves share the elements that are combined; pass reduce_lds_bytes<Tile, dimensions...> bytes of LDS
#include <tilewright/tile/reduce_tile.hpp>

#include "sample_tile.hpp"

using two_waves = tw::tile_distribution<tw::tile_distribution_encoding<
    sequence<>, tuple<sequence<8>, sequence<2, 8, 4>>, tuple<sequence<2>, sequence<1, 2>>,
    tuple<sequence<0>, sequence<0, 1>>, sequence<2>, sequence<2>>::value>;

auto f(const tw::static_distributed_tensor<float, two_waves>& tile) { return tw::row_reduce(tile, tw::max); }
