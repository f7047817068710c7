// SPDX-License-Identifier: MIT
// CK Tile's load_store_traits, the vectors and the order of accesses that a distribution alone decides, and its helpers
// for them: a second dimension, limits by a pointer's alignment, the best order.
#pragma once

#include <tilewright/core/distribution/access_list.hpp>
#include <tilewright/core/distribution/space_filling_curve.hpp>

namespace tilewright {

namespace detail {

/// The order in which a thread accesses its elements: y in row-major order,
/// the vector's dimension in steps of the vector.
template <index_t NDimY>
TILEWRIGHT_HD constexpr curve<NDimY> access_curve(const distribution_encoding& e, const vector_choice& vector,
                                                  bool snake) {
  curve<NDimY> result;
  for (index_t i = 0; i < NDimY; ++i) {
    result.lengths[i] = e.y_length(i);
    result.order[i] = i;
    result.scalars_per_access[i] = i == vector.dim_y ? vector.length : 1;
  }
  result.snake = snake;
  return result;
}

/// One access: y of its first element, and which dimension it runs along for how many elements.
template <index_t NDimY>
struct vectorized_access_info {
  multi_index<NDimY> base_indices;
  index_t vector_dim;
  index_t vector_size;
};

}  // namespace detail

/// What the distribution alone decides, as documented for CK Tile: memory is taken to be contiguous along the last
/// dimension of the tile. Tile windows ask the view as well and may choose narrower vectors.
/// Distribution: a tile distribution, or its encoding.
template <class Distribution, class T>
struct load_store_traits {
  static_assert(sizeof(T) <= detail::max_vector_bytes,
                "load_store_traits: an element must fit into one access, of 16 bytes");
  using distribution_type = detail::distribution_of_t<Distribution>;
  static constexpr distribution_encoding encoding = distribution_type::encoding;  ///< of the distribution
  static constexpr index_t ndim_y = distribution_type::ndim_y;                    ///< dimensions of what a thread holds
  static constexpr index_t ndim_x = distribution_type::ndim_x;                    ///< dimensions of the tile

  /// The vector of an access: rows (the last dimension) are contiguous, at most 16 bytes.
  static constexpr detail::vector_choice vector = [] {
    array<index_t, ndim_x> runs{};
    for (index_t x = 0; x < ndim_x; ++x) runs[x] = x == ndim_x - 1 ? encoding.x_length(x) : 1;
    return detail::choose_vector(encoding, runs, sizeof(T));
  }();
  static constexpr index_t vector_dim_y = vector.dim_y;         ///< the dimension of y along which it is
  static constexpr index_t scalar_per_vector = vector.length;   ///< its elements
  static constexpr index_t scalars_per_access = vector.length;  ///< its elements
  /// the order of the accesses
  static constexpr curve<ndim_y> sfc_ys = detail::access_curve<ndim_y>(encoding, vector, true);
  static constexpr index_t num_access = sfc_ys.get_num_of_access();  ///< accesses of a thread

  /// Where access i_access begins, in y.
  TILEWRIGHT_HD static constexpr multi_index<ndim_y> get_y_indices(index_t i_access) {
    constexpr curve<ndim_y> traversal = sfc_ys;
    return traversal.get_index(i_access);
  }
  /// Access i_access as data.
  TILEWRIGHT_HD static constexpr detail::vectorized_access_info<ndim_y> get_vectorized_access_info(index_t i_access) {
    constexpr detail::vector_choice v = vector;
    return {get_y_indices(i_access), v.dim_y, v.length};
  }
};

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
  /// along which vectors are
  static constexpr index_t primary_vector_dim = load_store_traits<Distribution, T>::vector_dim_y;
  /// the next one of y along the other dimension of the tile; -1: none
  static constexpr index_t secondary_vector_dim =
      detail::find_secondary_vector_dim(load_store_traits<Distribution, T>::encoding, primary_vector_dim);
  /// accesses have several elements, and there is a secondary dimension
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
  /// The curve, with the order changed so that y dimension vector_dim_y is the fastest.
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
