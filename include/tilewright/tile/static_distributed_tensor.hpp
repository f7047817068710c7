// SPDX-License-Identifier: MIT
// A tile in registers: each thread holds the elements that the distribution gives it.
#pragma once

#include <tilewright/distribution/tile_distribution.hpp>
#include <tilewright/numeric/types.hpp>

namespace tilewright {

/// Element d of the thread's buffer is y in row-major order. The contents are not initialised.
template <class T, TileDistribution Distribution>
struct static_distributed_tensor {
  using element_type = T;
  using distribution_type = Distribution;
  static constexpr index_t num_elements = Distribution::num_elements;

  alignas(16) array<T, num_elements> thread_buffer;

  TILEWRIGHT_HD static constexpr index_t size() { return num_elements; }
  TILEWRIGHT_HD constexpr array<T, num_elements>& get_thread_buffer() { return thread_buffer; }
  TILEWRIGHT_HD constexpr const array<T, num_elements>& get_thread_buffer() const { return thread_buffer; }

  /// The element at an index in y.
  TILEWRIGHT_HD constexpr T& operator[](const multi_index<Distribution::ndim_y>& y) {
    return thread_buffer[Distribution::y_to_register(y)];
  }
  TILEWRIGHT_HD constexpr const T& operator[](const multi_index<Distribution::ndim_y>& y) const {
    return thread_buffer[Distribution::y_to_register(y)];
  }
};

template <class T, TileDistribution Distribution>
TILEWRIGHT_HD constexpr auto make_static_distributed_tensor(Distribution) {
  return static_distributed_tensor<T, Distribution>{};
}

/// Sets every element that the thread holds.
template <class T, class Distribution>
TILEWRIGHT_HD constexpr void set_tile(static_distributed_tensor<T, Distribution>& tile, T value) {
  for (T& element : tile.thread_buffer) element = value;
}

/// f applied to each element; the result has the type that f returns.
template <class F, class T, class Distribution>
TILEWRIGHT_HD constexpr auto tile_elementwise_in(F f, const static_distributed_tensor<T, Distribution>& tile) {
  static_distributed_tensor<decltype(f(tile.thread_buffer[0])), Distribution> result;
  for (index_t d = 0; d < Distribution::num_elements; ++d) result.thread_buffer[d] = f(tile.thread_buffer[d]);
  return result;
}

/// The tile with its elements converted.
template <class To, class T, class Distribution>
TILEWRIGHT_HD constexpr auto cast_tile(const static_distributed_tensor<T, Distribution>& tile) {
  return tile_elementwise_in([](T value) { return type_convert<To>(value); }, tile);
}

}  // namespace tilewright
