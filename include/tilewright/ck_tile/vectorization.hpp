// SPDX-License-Identifier: MIT
// CK Tile's helpers for vectors: a second dimension, limits by a pointer's alignment, the order of accesses.
#pragma once

#include <tilewright/ck_tile/load_store_traits.hpp>

namespace tilewright {

namespace detail {

/// The dimension of y along which a thread's elements are neighbours in the tile, other than y `primary`, and in
/// another dimension of the tile; the longest, the first of equals; -1 if there is none.
TILEWRIGHT_HD constexpr index_t find_secondary_vector_dim(const distribution_encoding& e, index_t primary) {
  index_t best = -1;
  for (index_t i = 0; i < e.ndim_y(); ++i) {
    const bool runs = e.y_length(i) > 1 && e.stride(e.y[i]) == 1 && e.y[i].major != e.y[primary].major;
    if (runs && (best < 0 || e.y_length(i) > e.y_length(best))) best = i;
  }
  return best;
}

}  // namespace detail

/// A thread that holds neighbours along two dimensions of the tile can load vectors along one and, after transposing
/// them in its registers, store vectors along the other.
template <class Distribution, class T = float>
struct multi_level_vectorization {
  static constexpr index_t primary_vector_dim = load_store_traits<Distribution, T>::vector_dim_y;
  static constexpr index_t secondary_vector_dim =
      detail::find_secondary_vector_dim(load_store_traits<Distribution, T>::encoding, primary_vector_dim);
  static constexpr bool supports_2d_vector =
      load_store_traits<Distribution, T>::scalar_per_vector > 1 && secondary_vector_dim >= 0;
};

/// The widest vector that several limits allow.
template <class Distribution, class T>
struct adaptive_vector_size {
  /// What the distribution allows; a power of two of at most 16 bytes.
  TILEWRIGHT_HD static constexpr index_t calculate_optimal_vector_size() {
    return load_store_traits<Distribution, T>::scalar_per_vector;
  }

  /// What also suits memory whose rows begin every row_elements elements, at a pointer that is a multiple of
  /// alignment_bytes; both may be known only at run time.
  TILEWRIGHT_HD static constexpr index_t calculate_optimal_vector_size(index_t row_elements, index_t alignment_bytes) {
    const index_t aligned = max(1, alignment_bytes / index_t(sizeof(T)));
    const index_t common = detail::gcd(detail::gcd(calculate_optimal_vector_size(), row_elements), aligned);
    return common & -common;
  }
};

/// The documented optimiser of load_store_traits' curve: the vector's dimension moves fastest, whatever its place in y.
template <class Distribution, class T = float>
struct space_filling_curve_optimizer {
  TILEWRIGHT_HD static constexpr auto create_optimized_curve() {
    using traits = load_store_traits<Distribution, T>;
    constexpr distribution_encoding e = traits::encoding;
    constexpr detail::vector_choice vector = traits::vector;
    auto result = detail::access_curve<traits::ndim_y>(e, vector, true);
    index_t position = 0;
    for (index_t i = 0; i < e.ndim_y(); ++i) {
      if (i != vector.dim_y) result.order[position++] = i;
    }
    result.order[position] = vector.dim_y;
    return result;
  }
};

}  // namespace tilewright
