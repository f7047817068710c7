// SPDX-License-Identifier: MIT
// Parts of tiles and windows.
#include <tilewright/compat/ck_tile/slice_tile.hpp>

#include "sample_tile.hpp"

// A part of other elements than the slice is of.
// EXPECT: set_slice_tile: the part must be what get_slice_tile gives for this tile, these begins and ends
using in_registers = tw::tile_distribution<
    tw::tile_distribution_encoding<sequence<>, tuple<sequence<4, 8>, sequence<8, 4>>, tuple<sequence<1, 2>>,
                                   tuple<sequence<1, 0>>, sequence<1, 2>, sequence<0, 1>>::value>;

void set_slice_tile_part(tw::static_distributed_tensor<int, in_registers>& tile) {
  const auto part = tw::get_slice_tile(tile, sequence<0, 0>{}, sequence<16, 32>{});
  tw::set_slice_tile(tile, part, sequence<0, 0>{}, sequence<8, 32>{});
}

// A part that only some threads hold.
// EXPECT: slice_distribution_from_x: some threads would hold nothing; cut only factors that a thread holds (Y)
void slice_tile_threads(const tw::static_distributed_tensor<float, distribution>& tile) {
  (void)tw::get_slice_tile(tile, sequence<0, 0>{}, sequence<4, 32>{});
}

// A part with one begin for two dimensions.
// EXPECT: get_slice_tile: begins and ends need one entry for each dimension of the window
void slice_window_dimensions(float* p) {
  (void)tw::get_slice_tile(tw::make_tile_window(view(p), lengths, {0, 0}), sequence<0>{}, sequence<8>{});
}

// A part that reaches past the window.
// EXPECT: get_slice_tile: the part must lie inside of the window, with begins less than ends
void slice_window_range(float* p) {
  (void)tw::get_slice_tile(tw::make_tile_window(view(p), lengths, {0, 0}), sequence<0, 16>{}, sequence<8, 48>{});
}
