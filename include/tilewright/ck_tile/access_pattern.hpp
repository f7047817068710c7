// SPDX-License-Identifier: MIT
// How a curve moves: how often to a neighbour, within a cache line, or far; and the curve for accesses that coalesce.
#pragma once

#include <tilewright/distribution/space_filling_curve.hpp>

namespace tilewright {

/// Steps of a walk by how far they go.
struct access_locality {
  index_t sequential_steps = 0;  // to an access that adjoins the one before
  index_t cache_line_jumps = 0;  // further, but no further than a cache line
  index_t large_jumps = 0;
  friend constexpr bool operator==(const access_locality&, const access_locality&) = default;
};

namespace detail {

/// Distances in the tensor's coordinates: a step is sequential when one coordinate moves by one access; it stays within
/// a cache line when the sum of all moves is at most line_elements.
template <index_t N>
TILEWRIGHT_HD constexpr access_locality analyze_locality(const curve<N>& walk, index_t line_elements = 16) {
  access_locality result;
  for (index_t i = 0; i + 1 < walk.get_num_of_access(); ++i) {
    const multi_index<N> step = walk.get_forward_step(i);
    index_t elements = 0, accesses = 0;
    for (index_t d = 0; d < N; ++d) {
      const index_t distance = max(step[d], -step[d]);
      elements += distance;
      accesses += ceil_div(distance, walk.scalars_per_access[d]);
    }
    (accesses <= 1               ? result.sequential_steps
     : elements <= line_elements ? result.cache_line_jumps
                                 : result.large_jumps) += 1;
  }
  return result;
}

}  // namespace detail

/// CK Tile's spelling, for a space_filling_curve<...>.
template <class SpaceFillingCurve>
struct access_pattern_analyzer {
  TILEWRIGHT_HD static constexpr access_locality analyze_locality(index_t line_elements = 16) {
    constexpr curve<SpaceFillingCurve::ndim> walk = SpaceFillingCurve::walk;
    return detail::analyze_locality(walk, line_elements);
  }
};

/// The walk of a block of BlockM x BlockN elements for accesses that coalesce: vectors of 16 bytes along the dimension
/// that is contiguous in memory, and that dimension fastest, so that accesses i,
/// i + 1, ... of adjacent threads are neighbours in memory.
template <class T, index_t BlockM, index_t BlockN, index_t WarpSize = 32, index_t ContiguousDim = 1>
struct coalesced_access_pattern {
  static_assert(ContiguousDim == 0 || ContiguousDim == 1,
                "coalesced_access_pattern: the contiguous dimension is 0 (columns) or 1 (rows)");
  static_assert(16 % sizeof(T) == 0, "coalesced_access_pattern: the element type's size must divide 16 bytes");
  static_assert(WarpSize > 0, "coalesced_access_pattern: a warp has at least one thread");

  static constexpr index_t vector_size = 16 / index_t(sizeof(T));
  using optimal_pattern =
      space_filling_curve<2, sequence<BlockM, BlockN>, sequence<1 - ContiguousDim, ContiguousDim>,
                          sequence<ContiguousDim == 0 ? vector_size : 1, ContiguousDim == 1 ? vector_size : 1>>;
  /// Accesses that a warp makes together; the last may be partial.
  static constexpr index_t num_warp_accesses = ceil_div(optimal_pattern::get_num_of_access(), WarpSize);
};

}  // namespace tilewright
