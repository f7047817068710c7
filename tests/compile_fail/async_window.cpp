// SPDX-License-Identifier: MIT
// Windows for copies into swizzled layouts.
#include <tilewright/core/lds/layout_presets.hpp>
#include <tilewright/tile/copy/async_load.hpp>

#include "sample_tile.hpp"

constexpr auto layout = tw::make_lds_index_swapping_descriptor<32, 4, 1, 8, float>();

// Lanes exchanged on one side of a copy only.
// EXPECT: async_load_tile: make both windows with make_async_tile_window
void load_one_exchanged(tw::exec::lds_pointer p, const float* q) {
  const auto in_lds = tw::make_tensor_view<tw::address_space_enum::lds, float>(p, layout);
  tw::async_load_tile(tw::make_async_tile_window(in_lds, lengths, {0, 0}, distribution{}, layout),
                      tw::make_tile_window(view(q), lengths, {0, 0}, distribution{}));
}

// A layout in LDS whose stride is known at run time.
// EXPECT: make_async_tile_window: the layout in LDS must be known at compile time
void window_dynamic(const float* q, index_t pitch) {
  (void)tw::make_async_tile_window(view(q), lengths, {0, 0}, distribution{},
                                   tw::make_naive_tensor_descriptor(lengths, make_tuple(pitch, number<1>{})));
}

// A padded layout, which a wave cannot fill lane after lane.
// EXPECT: make_async_tile_window: with this layout a wave's instruction would write places that are not its own
void window_footprint(const float* q) {
  constexpr auto padded = tw::make_naive_tensor_descriptor(lengths, make_tuple(number<36>{}, number<1>{}));
  (void)tw::make_async_tile_window(view(q), lengths, {0, 0}, distribution{}, padded);
}

// A window for async_load_tile, read into registers.
// EXPECT: load_tile: make_async_tile_window is for async_load_tile
void window_load(const float* q) {
  (void)tw::load_tile(tw::make_async_tile_window(view(q), lengths, {0, 0}, distribution{}, layout));
}
