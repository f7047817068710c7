// SPDX-License-Identifier: MIT
// A gathering window of other lengths than its distribution.
// EXPECT: tile_window: the lengths are not those of the tile distribution
#include <tilewright/tile/tile_scatter_gather.hpp>

#include "sample_tile.hpp"

void f(float* p) {
  (void)tw::make_tile_scatter_gather(view(p), make_tuple(number<4>{}, number<32>{}), {0, 0}, distribution{},
                                     tw::array<index_t, 1>{}, number<0>{});
}
