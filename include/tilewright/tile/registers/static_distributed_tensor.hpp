// SPDX-License-Identifier: MIT
// A tile in registers: each thread holds the elements that the distribution gives it.
#pragma once

#include <tilewright/core/distribution/tile_distribution.hpp>

namespace tilewright {

namespace detail {
/// Indices that are types, and register_of<Distribution, Index>::value, the register of the element there: specialised
/// by compat/ck_tile/tile_index.hpp.
template <class Index>
inline constexpr bool is_element_index_v = false;
template <class Index>
concept ElementIndex = is_element_index_v<Index>;
template <TileDistribution Distribution, class Index>
struct register_of;
}  // namespace detail

/// The elements of a tile that the calling thread holds: register d is element d of y in row-major order. Not
/// initialised.
template <class T, TileDistribution Distribution>
struct static_distributed_tensor {
  using element_type = T;
  using distribution_type = Distribution;
  static constexpr index_t num_elements = Distribution::num_elements;  ///< Of a thread.

  /// by register
  alignas(16) array<T, num_elements> thread_buffer;

  /// Elements of a thread.
  TILEWRIGHT_HD static constexpr index_t size() { return num_elements; }
  /// Who holds which element.
  TILEWRIGHT_HD static constexpr Distribution get_tile_distribution() { return {}; }
  /// The thread's elements, by register.
  TILEWRIGHT_HD constexpr array<T, num_elements>& get_thread_buffer() { return thread_buffer; }
  TILEWRIGHT_HD constexpr const array<T, num_elements>& get_thread_buffer() const { return thread_buffer; }

  /// The element at an index in y.
  TILEWRIGHT_HD constexpr T& operator[](const multi_index<Distribution::ndim_y>& y) {
    return thread_buffer[Distribution::y_to_register(y)];
  }
  TILEWRIGHT_HD constexpr const T& operator[](const multi_index<Distribution::ndim_y>& y) const {
    return thread_buffer[Distribution::y_to_register(y)];
  }

  /// The element at what sweep_tile gives, or at make_tuple(what sweep_tile_span gives for each dimension).
  template <detail::ElementIndex Index>
  TILEWRIGHT_HD constexpr T& operator[](const Index&) {
    return thread_buffer[constant(detail::register_of<Distribution, Index>::value)];
  }
  template <detail::ElementIndex Index>
  TILEWRIGHT_HD constexpr const T& operator[](const Index&) const {
    return thread_buffer[constant(detail::register_of<Distribution, Index>::value)];
  }
  /// As operator[].
  template <detail::ElementIndex Index>
  TILEWRIGHT_HD constexpr T& operator()(const Index& index) {
    return (*this)[index];
  }
};

/// A tile whose elements are zeros.
template <class T, TileDistribution Distribution>
TILEWRIGHT_HD constexpr auto make_static_distributed_tensor(Distribution) {
  return static_distributed_tensor<T, Distribution>{};
}

}  // namespace tilewright
