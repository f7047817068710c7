// SPDX-License-Identifier: MIT
// An origin of one dimension, and one of three, for windows into a matrix.
// EXPECT: make_tile_window: the origin needs one entry for each dimension
// EXPECT: make_tile_window: the origin needs one entry for each dimension
#include <tilewright/tile/load_store.hpp>

#include "sample_tile.hpp"

auto one = tw::make_tile_window(view<float>(nullptr), lengths, tw::multi_index<1>{8}, distribution{});
auto three = tw::make_tile_window(view<float>(nullptr), lengths, tw::multi_index<3>{0, 8, 0}, distribution{});
