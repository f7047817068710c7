// SPDX-License-Identifier: MIT
// A window of one dimension into a matrix.
// EXPECT: make_tile_window: one length is needed for each dimension of the view
#include <tilewright/tile/load_store.hpp>

#include "sample_tile.hpp"

auto w = tw::make_tile_window(view<float>(nullptr), tw::make_tuple(tw::number<8>{}), {0}, distribution{});
