// SPDX-License-Identifier: MIT
// A copy from rows without aligned vectors into rows with them.
// EXPECT: async_load_tile: one window allows wider vectors than the other; give both layouts the same contiguous runs
#include <tilewright/tile/async_load.hpp>

#include "sample_tile.hpp"

void f(tw::exec::lds_pointer p, const float* q) {
  const auto single =
      tw::make_naive_tensor_view<tw::address_space_enum::global>(q, make_tuple(8, 32), make_tuple(33, number<1>{}));
  tw::async_load_tile(tw::make_tile_window(lds_view(p), lengths, {0, 0}, distribution{}),
                      tw::make_tile_window(single, lengths, {0, 0}, distribution{}));
}
