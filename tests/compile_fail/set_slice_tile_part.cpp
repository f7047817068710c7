// SPDX-License-Identifier: MIT
// A part of other elements than the slice is of.
// EXPECT: set_slice_tile: the part must be what get_slice_tile gives for this tile, these begins and ends
#include <tilewright/tile/slice_tile.hpp>

namespace tw = tilewright;
using tw::index_t, tw::make_tuple, tw::number, tw::sequence, tw::tuple;

using in_registers = tw::tile_distribution<
    tw::tile_distribution_encoding<sequence<>, tuple<sequence<4, 8>, sequence<8, 4>>, tuple<sequence<1, 2>>,
                                   tuple<sequence<1, 0>>, sequence<1, 2>, sequence<0, 1>>::value>;

void f(tw::static_distributed_tensor<int, in_registers>& tile) {
  const auto part = tw::get_slice_tile(tile, sequence<0, 0>{}, sequence<16, 32>{});
  tw::set_slice_tile(tile, part, sequence<0, 0>{}, sequence<8, 32>{});
}
