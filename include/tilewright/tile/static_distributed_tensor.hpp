// SPDX-License-Identifier: MIT
// A tile in registers: each thread holds the elements that the distribution gives it.
#pragma once

#include <tilewright/distribution/distributed_span.hpp>
#include <tilewright/numeric/types.hpp>

namespace tilewright {

/// The index of a thread's elements along one dimension of the tile: a digit for each factor of the dimension that the thread holds,
/// the most significant factor first.
template <index_t... Digits>
struct tile_distributed_index {
  static constexpr index_t size = sizeof...(Digits);
  TILEWRIGHT_HD static constexpr distributed_index value() {
    distributed_index digits;
    (digits.push_back(Digits), ...);
    return digits;
  }
};

/// The register of a thread's element with one tile_distributed_index for each dimension of the tile.
template <TileDistribution Distribution, class... Indices>
struct register_of {
  static_assert(sizeof...(Indices) == Distribution::ndim_x, "tile_distributed_index: one index is needed for each dimension of the tile");
  static_assert(
      [] {
        if constexpr (sizeof...(Indices) == Distribution::ndim_x) {
          const auto spans = get_distributed_spans(Distribution{});
          const array<distributed_index, sizeof...(Indices)> indices{{Indices::value()...}};
          for (index_t x = 0; x < index_t(sizeof...(Indices)); ++x) {
            if (indices[x].size() != spans[x].size()) return false;
            for (index_t k = 0; k < spans[x].size(); ++k) {
              if (indices[x][k] < 0 || indices[x][k] >= spans[x][k]) return false;
            }
          }
        }
        return true;
      }(),
      "tile_distributed_index: the index is not one of the tile's distributed spans");
  static constexpr index_t value = Distribution::y_to_register(
      get_y_indices_from_distributed_indices(Distribution{}, array<distributed_index, sizeof...(Indices)>{{Indices::value()...}}));
};

/// Element d of the thread's buffer is y in row-major order. The contents are not initialised.
template <class T, TileDistribution Distribution>
struct static_distributed_tensor {
  using element_type = T;
  using distribution_type = Distribution;
  static constexpr index_t num_elements = Distribution::num_elements;

  alignas(16) array<T, num_elements> thread_buffer;

  TILEWRIGHT_HD static constexpr index_t size() { return num_elements; }
  TILEWRIGHT_HD static constexpr Distribution get_tile_distribution() { return {}; }
  TILEWRIGHT_HD constexpr array<T, num_elements>& get_thread_buffer() { return thread_buffer; }
  TILEWRIGHT_HD constexpr const array<T, num_elements>& get_thread_buffer() const { return thread_buffer; }

  /// The element at an index in y.
  TILEWRIGHT_HD constexpr T& operator[](const multi_index<Distribution::ndim_y>& y) {
    return thread_buffer[Distribution::y_to_register(y)];
  }
  TILEWRIGHT_HD constexpr const T& operator[](const multi_index<Distribution::ndim_y>& y) const {
    return thread_buffer[Distribution::y_to_register(y)];
  }

  /// The element at distributed indices, one for each dimension of the tile: what sweep_tile and sweep_tile_span give.
  template <class... Indices>
  TILEWRIGHT_HD constexpr T& operator[](const tuple<Indices...>&) {
    return thread_buffer[constant(register_of<Distribution, Indices...>::value)];
  }
  template <class... Indices>
  TILEWRIGHT_HD constexpr const T& operator[](const tuple<Indices...>&) const {
    return thread_buffer[constant(register_of<Distribution, Indices...>::value)];
  }
  template <class... Indices>
  TILEWRIGHT_HD constexpr T& operator()(const tuple<Indices...>& indices) {
    return (*this)[indices];
  }
};

template <class T, TileDistribution Distribution>
TILEWRIGHT_HD constexpr auto make_static_distributed_tensor(Distribution) {
  return static_distributed_tensor<T, Distribution>{};
}

}  // namespace tilewright
