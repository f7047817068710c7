// SPDX-License-Identifier: MIT
// A window of a swizzled view at an origin that is no multiple of its lengths.
// EXPECT: make_tile_window: the view is swizzled, so the origin must be a multiple of the window's lengths in each dimension
#include <tilewright/tile/tile_window.hpp>

#include <tilewright/lds/lds_index_swapping.hpp>

#include "sample_tile.hpp"

void f(float* p) {
  constexpr auto layout = tw::make_lds_index_swapping_descriptor<64, 4, 1, 32, float>();
  const auto swizzled = tw::make_tensor_view<tw::address_space_enum::global>(p, layout);
  (void)tw::make_tile_window(swizzled, lengths, make_tuple(number<0>{}, number<8>{}), distribution{});
}
