// SPDX-License-Identifier: MIT
// Lanes exchanged on one side of a copy only.
// EXPECT: async_load_tile: make both windows with make_async_tile_window
#include <tilewright/tile/async_window.hpp>

#include <tilewright/lds/lds_index_swapping.hpp>

#include "sample_tile.hpp"

constexpr auto layout = tw::make_lds_index_swapping_descriptor<32, 4, 1, 8, float>();
void f(tw::exec::lds_pointer p, const float* q) {
  const auto in_lds = tw::make_tensor_view<tw::address_space_enum::lds, float>(p, layout);
  tw::async_load_tile(tw::make_async_tile_window(in_lds, lengths, {0, 0}, distribution{}, layout),
                      tw::make_tile_window(view(q), lengths, {0, 0}, distribution{}));
}
