// SPDX-License-Identifier: MIT
// CK Tile's load_store_traits: the vectors and the order of accesses that a distribution alone decides.
#pragma once

#include <tilewright/distribution/space_filling_curve.hpp>
#include <tilewright/distribution/vector_choice.hpp>

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
  static constexpr distribution_encoding encoding = distribution_type::encoding;
  static constexpr index_t ndim_y = distribution_type::ndim_y;
  static constexpr index_t ndim_x = distribution_type::ndim_x;

  static constexpr detail::vector_choice vector = [] {
    array<index_t, ndim_x> runs{};
    for (index_t x = 0; x < ndim_x; ++x) runs[x] = x == ndim_x - 1 ? encoding.x_length(x) : 1;
    return detail::choose_vector(encoding, runs, sizeof(T));
  }();
  static constexpr index_t vector_dim_y = vector.dim_y;
  static constexpr index_t scalar_per_vector = vector.length;
  static constexpr index_t scalars_per_access = vector.length;
  static constexpr curve<ndim_y> sfc_ys = detail::access_curve<ndim_y>(encoding, vector, true);
  static constexpr index_t num_access = sfc_ys.get_num_of_access();

  TILEWRIGHT_HD static constexpr multi_index<ndim_y> get_y_indices(index_t i_access) {
    constexpr curve<ndim_y> walk = sfc_ys;
    return walk.get_index(i_access);
  }
  TILEWRIGHT_HD static constexpr detail::vectorized_access_info<ndim_y> get_vectorized_access_info(index_t i_access) {
    constexpr detail::vector_choice v = vector;
    return {get_y_indices(i_access), v.dim_y, v.length};
  }
};

}  // namespace tilewright
