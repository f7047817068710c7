// SPDX-License-Identifier: MIT
// A window of another size than its distribution's tile.
// EXPECT: tile_window: the lengths are not those of the tile distribution
// EXPECT(clang): '16 == 32': tile_window: the lengths are not those of the tile distribution
#include <tilewright/tile/load_store.hpp>

#include "sample_tile.hpp"

auto w = tw::make_tile_window(view<float>(nullptr), tw::make_tuple(tw::number<8>{}, tw::number<16>{}), {0, 0},
                              distribution{});
