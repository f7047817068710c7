// SPDX-License-Identifier: MIT
// Gives a tile another element type and distribution where no element changes its lane.
#pragma once

#include <tilewright/tile/elementwise.hpp>
#include <tilewright/tile/shuffle_tile.hpp>

namespace tilewright {

/// The tile with elements of type T in another distribution, given as a value of its type. Each thread must hold the
/// same elements in both (can_shuffle_in_registers): no instruction moves anything between lanes.
template <class T, class From, class In, TileDistribution Out>
TILEWRIGHT_HD constexpr auto relayout(const static_distributed_tensor<From, In>& tile, Out) {
  constexpr bool stays_in_lanes = can_shuffle_in_registers<Out, In>;
  static_assert(
      stays_in_lanes,
      "relayout: an element would change its lane; give the second product the k_order that chained finds, or "
      "use shuffle_tile with a place in LDS");
  static_distributed_tensor<T, Out> result;
  if constexpr (stays_in_lanes) shuffle_tile(result, cast_tile<T>(tile));
  return result;
}

}  // namespace tilewright
