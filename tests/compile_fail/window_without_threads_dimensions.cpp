// SPDX-License-Identifier: MIT
// A window without threads with one length too many.
// EXPECT: make_tile_window: one length is needed for each dimension of the view
#include <tilewright/tile/tile_window.hpp>

#include "sample_tile.hpp"

void f(float* p) { (void)tw::make_tile_window(view(p), make_tuple(number<8>{}, number<32>{}, number<1>{}), {0, 0, 0}); }
