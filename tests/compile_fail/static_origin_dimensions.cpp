// SPDX-License-Identifier: MIT
// An origin with too few entries.
// EXPECT: make_tile_window: the origin needs one entry for each dimension
#include <tilewright/tile/tile_window.hpp>

#include "sample_tile.hpp"

void f(float* p) { (void)tw::make_tile_window(view(p), lengths, make_tuple(number<0>{}), distribution{}); }
