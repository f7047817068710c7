// SPDX-License-Identifier: MIT
// A window of three dimensions.
// EXPECT: print_tile_window_range: the window must have two dimensions
#include <tilewright/viz/window_text.hpp>

namespace tw = tilewright;
using tw::number, tw::make_tuple;

void f(float* p) {
  constexpr auto lengths = make_tuple(number<2>{}, number<2>{}, number<2>{});
  const auto view =
      tw::make_tensor_view<tw::address_space_enum::global>(p, tw::make_naive_tensor_descriptor_packed(lengths));
  tw::print_tile_window_range(tw::make_tile_window(view, lengths, {0, 0, 0}), 0, 1, 0, 1);
}
