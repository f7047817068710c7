// SPDX-License-Identifier: MIT
// What accesses cost: those of a distributed tile in cache lines of global memory, from the addresses of the lanes; the
// steps of a curve by how far they go, and the curve for accesses that coalesce.
#pragma once

#include <tilewright/compat/ck_tile/load_store_traits.hpp>
#include <tilewright/core/distribution/space_filling_curve.hpp>

namespace tilewright {

namespace detail {

/// Cache lines that one access of a wave touches, and the different bytes that it uses of them.
struct touched_lines {
  index_t lines = 0;
  index_t bytes = 0;
  friend constexpr bool operator==(const touched_lines&, const touched_lines&) = default;
};

/// Lanes access access_bytes each, from addresses[0 .. num_lanes - 1],
/// non-negative byte offsets from the start of a cache line.
template <index_t Capacity>
TILEWRIGHT_HD constexpr touched_lines count_touched_lines(array<long_index_t, Capacity> addresses, index_t num_lanes,
                                                          index_t access_bytes, index_t line_bytes) {
  for (index_t i = 1; i < num_lanes; ++i) {
    for (index_t j = i; j > 0 && addresses[j - 1] > addresses[j]; --j) {
      const long_index_t larger = addresses[j - 1];
      addresses[j - 1] = addresses[j];
      addresses[j] = larger;
    }
  }
  touched_lines result;
  long_index_t end = 0, next_line = 0;  // of what is counted already
  for (index_t i = 0; i < num_lanes; ++i) {
    const long_index_t first = max(addresses[i], end), last = addresses[i] + access_bytes - 1;
    if (last < first) continue;
    result.bytes += index_t(last - first + 1);
    end = last + 1;
    const long_index_t from = max(first / line_bytes, next_line);
    next_line = last / line_bytes + 1;
    result.lines += index_t(next_line - from);
  }
  return result;
}

/// All accesses to a tile by all waves of a block.
struct memory_access_cost {
  index_t wave_accesses = 0;  // instructions, each by one wave
  index_t lines = 0;          // cache lines touched by each, summed: transactions
  index_t fewest_lines = 0;   // the same if each used whole lines only
  index_t bytes = 0;          // different bytes that each uses, summed
  index_t line_bytes = 0;

  /// Part of the touched lines' bytes that is used, in percent.
  TILEWRIGHT_HD constexpr float utilization() const {
    return lines == 0
               ? 100.0f
               : 100.0f * static_cast<float>(bytes) / (static_cast<float>(lines) * static_cast<float>(line_bytes));
  }
  TILEWRIGHT_HD constexpr bool is_perfectly_coalesced() const { return lines == fewest_lines; }
  friend constexpr bool operator==(const memory_access_cost&, const memory_access_cost&) = default;
};

/// A tile that starts on a cache line; dimension x has the stride strides[x] in elements, not negative, and that along
/// which the vector runs is 1. The last partition index is the lane; more than 64 of them are waves of 64.
template <index_t NDimX>
TILEWRIGHT_HD constexpr memory_access_cost analyze_memory_access(const distribution_encoding& e,
                                                                 const vector_choice& vector,
                                                                 const array<long_index_t, NDimX>& strides,
                                                                 index_t element_bytes, index_t line_bytes = 64) {
  constexpr index_t max_lanes = 64;
  const auto offset_of = [&](const auto& ids, index_t at) {
    long_index_t offset = 0;
    for (index_t x = 0; x < NDimX; ++x) offset += e.position_of(ids, at, x) * strides[x];
    return offset;
  };
  const index_t last_p = e.ndim_p() - 1;
  const index_t threads = last_p < 0 ? 1 : e.p_length(last_p), waves = last_p > 0 ? e.p_length(0) : 1;
  memory_access_cost cost;
  cost.line_bytes = line_bytes;
  for (index_t first_lane = 0; first_lane < threads; first_lane += max_lanes) {
    const index_t num_lanes = min(max_lanes, threads - first_lane);
    array<long_index_t, max_lanes> of_lane{};
    for (index_t lane = 0; lane < num_lanes && last_p >= 0; ++lane)
      of_lane[lane] = offset_of(e.p[last_p], first_lane + lane);
    for (index_t wave = 0; wave < waves; ++wave) {
      const long_index_t of_wave = last_p > 0 ? offset_of(e.p[0], wave) : 0;
      for (index_t d = 0; d < e.num_elements_per_thread(); ++d) {
        const bool begins_vector =
            e.ndim_y() == 0 || d / e.y_stride(vector.dim_y) % e.y_length(vector.dim_y) % vector.length == 0;
        if (!begins_vector) continue;
        const long_index_t of_y = of_wave + offset_of(e.y, d);
        array<long_index_t, max_lanes> addresses{};
        for (index_t lane = 0; lane < num_lanes; ++lane) addresses[lane] = (of_lane[lane] + of_y) * element_bytes;
        const detail::touched_lines touched =
            detail::count_touched_lines(addresses, num_lanes, vector.length * element_bytes, line_bytes);
        ++cost.wave_accesses;
        cost.lines += touched.lines;
        cost.fewest_lines += ceil_div(touched.bytes, line_bytes);
        cost.bytes += touched.bytes;
      }
    }
  }
  return cost;
}

}  // namespace detail

/// CK Tile's spelling: the accesses of load_store_traits<Distribution, T> to a
/// tensor whose last dimension is contiguous.
template <class Distribution, class T = float, index_t CacheLineBytes = 64>
struct memory_access_analyzer {
  static_assert(CacheLineBytes > 0 && CacheLineBytes % 16 == 0,
                "memory_access_analyzer: a cache line is a multiple of 16 bytes");
  using traits = load_store_traits<Distribution, T>;
  static constexpr index_t bytes_per_access = traits::scalar_per_vector * index_t(sizeof(T));  ///< of one lane

  /// Part of a cache line that one access of one thread uses, in percent.
  TILEWRIGHT_HD static constexpr float bandwidth_utilization() {
    return 100.0f * static_cast<float>(bytes_per_access) / static_cast<float>(CacheLineBytes);
  }
  /// Accesses of one thread.
  TILEWRIGHT_HD static constexpr index_t total_transactions() { return traits::num_access; }

  /// What all waves' accesses cost together; rows of the tensor begin every row_elements elements,
  /// all matrices before it are packed.
  TILEWRIGHT_HD static constexpr detail::memory_access_cost cost(index_t row_elements) {
    constexpr distribution_encoding e = traits::encoding;
    constexpr detail::vector_choice vector = traits::vector;
    array<long_index_t, traits::ndim_x> strides{};
    long_index_t stride = 1;
    for (index_t x = traits::ndim_x; x-- > 0;) {
      strides[x] = stride;
      stride *= x == traits::ndim_x - 1 ? row_elements : e.x_length(x);
    }
    return detail::analyze_memory_access(e, vector, strides, index_t(sizeof(T)), CacheLineBytes);
  }
  /// The same for a tensor as wide as the tile.
  TILEWRIGHT_HD static constexpr detail::memory_access_cost cost() {
    constexpr distribution_encoding e = traits::encoding;
    return cost(e.x_length(e.ndim_x() - 1));
  }
  /// Whether each wave's access touches no more cache lines than its bytes fill,
  /// in a tensor as wide as the tile or as given.
  TILEWRIGHT_HD static constexpr bool is_perfectly_coalesced() { return cost().is_perfectly_coalesced(); }
  TILEWRIGHT_HD static constexpr bool is_perfectly_coalesced(index_t row_elements) {
    return cost(row_elements).is_perfectly_coalesced();
  }
};

/// Steps of a traversal by how far they go.
struct access_locality {
  index_t sequential_steps = 0;  ///< to an access that adjoins the one before
  index_t cache_line_jumps = 0;  ///< further, but no further than a cache line
  index_t large_jumps = 0;       ///< steps of more than a cache line
  friend constexpr bool operator==(const access_locality&, const access_locality&) = default;
};

namespace detail {

/// Distances in the tensor's coordinates: a step is sequential when one coordinate moves by one access; it stays within
/// a cache line when the sum of all moves is at most line_elements.
template <index_t N>
TILEWRIGHT_HD constexpr access_locality analyze_locality(const curve<N>& traversal, index_t line_elements = 16) {
  access_locality result;
  for (index_t i = 0; i + 1 < traversal.get_num_of_access(); ++i) {
    const multi_index<N> step = traversal.get_forward_step(i);
    index_t elements = 0, accesses = 0;
    for (index_t d = 0; d < N; ++d) {
      const index_t distance = max(step[d], -step[d]);
      elements += distance;
      accesses += ceil_div(distance, traversal.scalars_per_access[d]);
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
  /// Steps of the curve by distance; a line has `line_elements` elements.
  TILEWRIGHT_HD static constexpr access_locality analyze_locality(index_t line_elements = 16) {
    constexpr curve<SpaceFillingCurve::ndim> traversal = SpaceFillingCurve::traversal;
    return detail::analyze_locality(traversal, line_elements);
  }
};

/// The traversal of a block of BlockM x BlockN elements for accesses that coalesce: vectors of 16 bytes along the
/// dimension that is contiguous in memory, and that dimension fastest, so that accesses i, i + 1, ... of adjacent
/// threads are neighbours in memory.
template <class T, index_t BlockM, index_t BlockN, index_t WarpSize = 32, index_t ContiguousDim = 1>
struct coalesced_access_pattern {
  static_assert(ContiguousDim == 0 || ContiguousDim == 1,
                "coalesced_access_pattern: the contiguous dimension is 0 (columns) or 1 (rows)");
  static_assert(16 % sizeof(T) == 0, "coalesced_access_pattern: the element type's size must divide 16 bytes");
  static_assert(WarpSize > 0, "coalesced_access_pattern: a warp has at least one thread");

  static constexpr index_t vector_size = 16 / index_t(sizeof(T));  ///< elements of 16 bytes
  using optimal_pattern =
      space_filling_curve<2, sequence<BlockM, BlockN>, sequence<1 - ContiguousDim, ContiguousDim>,
                          sequence<ContiguousDim == 0 ? vector_size : 1, ContiguousDim == 1 ? vector_size : 1>>;
  /// Accesses that a warp makes together; the last may be partial.
  static constexpr index_t num_warp_accesses = ceil_div(optimal_pattern::get_num_of_access(), WarpSize);
};

}  // namespace tilewright
