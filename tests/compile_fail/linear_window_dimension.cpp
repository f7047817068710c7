// SPDX-License-Identifier: MIT
// A linear dimension that the view does not have.
// EXPECT: make_tile_window_linear: the view has no such dimension
#include <tilewright/tile/tile_window.hpp>

#include "sample_tile.hpp"

void f(float* p) { (void)tw::make_tile_window_linear(view(p), lengths, {0, 0}, distribution{}, sequence<2>{}); }
