// SPDX-License-Identifier: MIT
// A padded layout, which a wave cannot fill lane after lane.
// EXPECT: make_async_tile_window: with this layout a wave's instruction would write places that are not its own
#include <tilewright/tile/async_window.hpp>

#include "sample_tile.hpp"

void f(const float* q) {
  constexpr auto padded = tw::make_naive_tensor_descriptor(lengths, make_tuple(number<36>{}, number<1>{}));
  (void)tw::make_async_tile_window(view(q), lengths, {0, 0}, distribution{}, padded);
}
