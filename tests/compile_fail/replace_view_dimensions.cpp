// SPDX-License-Identifier: MIT
// A tensor of another number of dimensions under a window.
// EXPECT: replace_bottom_tensor_view: the new tensor has another number of dimensions
#include <tilewright/tile/tile_window.hpp>

#include "sample_tile.hpp"

void f(float* p) {
  const auto vector =
      tw::make_naive_tensor_view<tw::address_space_enum::global>(p, make_tuple(8), make_tuple(number<1>{}));
  (void)tw::replace_bottom_tensor_view(vector, tw::make_tile_window(view(p), lengths, {0, 0}, distribution{}));
}
