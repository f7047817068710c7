// SPDX-License-Identifier: MIT
// Copies to LDS without registers.
#include <tilewright/tile/copy/async_load.hpp>

#include "sample_tile.hpp"

// A copy between windows of two distributions.
// EXPECT: async_load_tile: the windows must have the same element type and the same distribution
void distributions(tw::exec::lds_pointer p, float* q) {
  tw::async_load_tile(tw::make_tile_window(lds_view(p), lengths, {0, 0}, distribution{}),
                      tw::make_tile_window(view(q), lengths, {0, 0}, by_columns{}));
}

// A copy out of LDS.
// EXPECT: async_load_tile: the second window must be in global memory
void from_lds(tw::exec::lds_pointer p) {
  const auto window = tw::make_tile_window(lds_view(p), lengths, {0, 0}, distribution{});
  tw::async_load_tile(window, window);
}

// A copy into global memory.
// EXPECT: async_load_tile: the first window must be in LDS
void spaces(float* p) {
  const auto window = tw::make_tile_window(view(p), lengths, {0, 0}, distribution{});
  tw::async_load_tile(window, window);
}

// A copy from rows without aligned vectors into rows with them.
// EXPECT(2): async_load_tile: one window allows wider vectors than the other; give both layouts the same contiguous runs
void vectors(tw::exec::lds_pointer p, const float* q) {
  const auto single =
      tw::make_naive_tensor_view<tw::address_space_enum::global>(q, make_tuple(8, 32), make_tuple(33, number<1>{}));
  tw::async_load_tile(tw::make_tile_window(lds_view(p), lengths, {0, 0}, distribution{}),
                      tw::make_tile_window(single, lengths, {0, 0}, distribution{}));
}
