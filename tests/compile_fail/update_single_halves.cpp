// SPDX-License-Identifier: MIT
// An atomic update of halves whose window moves them one by one.
// EXPECT: update_tile: 16-bit elements are updated atomically in pairs; the window's vectors must hold at least two
#include <tilewright/tile/update.hpp>

#include "sample_tile.hpp"

void f(tw::half_t* p, const tw::static_distributed_tensor<tw::half_t, distribution>& tile) {
  const auto single =
      tw::make_naive_tensor_view<tw::address_space_enum::global>(p, make_tuple(8, 32), make_tuple(33, number<1>{}));
  tw::update_tile<tw::memory_operation_enum::atomic_max>(tw::make_tile_window(single, lengths, {0, 0}, distribution{}),
                                                         tile);
}
