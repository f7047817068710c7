// SPDX-License-Identifier: MIT
// A window between two vectors.
// EXPECT: make_tile_window: the origin must be a multiple of the vector's length along the vectors
#include <tilewright/tile/tile_window.hpp>

#include "sample_tile.hpp"

void f(float* p) { (void)tw::make_tile_window(view(p), lengths, make_tuple(number<0>{}, number<2>{}), distribution{}); }
