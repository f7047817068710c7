// SPDX-License-Identifier: MIT
// Broadcasts a tile along the dimensions that it lacks, as an operand of element-wise functions.
#pragma once

#include <tilewright/distribution/reduce_encoding.hpp>
#include <tilewright/tile/static_distributed_tensor.hpp>

namespace tilewright {

namespace detail {

template <class T>
inline constexpr bool is_static_distributed_tensor_v = false;
template <class T, class Distribution>
inline constexpr bool is_static_distributed_tensor_v<static_distributed_tensor<T, Distribution>> = true;

/// What along() gives.
template <class Tile, index_t... Dims>
struct along_operand {
  Tile& tile;
};

enum class along_fault { none, dimensions, lengths, distribution };

/// How far the register of Part moves for a step along each y of Whole; 0 for dimensions that Part lacks.
template <index_t NDimY>
struct along_strides {
  along_fault fault = along_fault::none;
  multi_index<NDimY> strides{};
};

/// Dimension i of Part is dimension dims[i] of Whole. They fit if each thread holds the same coordinates in both.
template <class Whole, class Part, index_t N>
TILEWRIGHT_HD constexpr along_strides<Whole::ndim_y> make_along_strides(const array<index_t, N>& dims) {
  using enum along_fault;
  constexpr distribution_encoding whole = Whole::encoding, part = Part::encoding;
  along_strides<Whole::ndim_y> result;
  if (N != Part::ndim_x) return {dimensions, {}};
  for (index_t i = 0; i < N; ++i) {
    if (dims[i] < 0 || dims[i] >= Whole::ndim_x) return {dimensions, {}};
    if (whole.x_length(dims[i]) != part.x_length(i)) return {lengths, {}};
  }
  for (index_t y = 0; y < Whole::ndim_y; ++y) {
    for (index_t i = 0; i < N; ++i) {
      if (whole.y[y].major - 1 != dims[i] || whole.y_length(y) == 1) continue;
      index_t other = 0;
      const auto is_same = [&](rh_id id) {
        return id.major - 1 == i && part.length(id) == whole.y_length(y) && part.stride(id) == whole.stride(whole.y[y]);
      };
      while (other < Part::ndim_y && !is_same(part.y[other])) ++other;
      if (other == Part::ndim_y) return {distribution, {}};
      result.strides[y] = part.y_stride(other);
    }
  }
  if (Whole::ndim_p != Part::ndim_p) return {distribution, {}};
  for (index_t p = 0; p < Whole::ndim_p; ++p) {
    if (whole.p_length(p) != part.p_length(p)) return {distribution, {}};
    for (index_t at = 1; at < whole.p_length(p); ++at) {
      for (index_t i = 0; i < N; ++i) {
        if (whole.position_of_thread(p, at, dims[i]) != part.position_of_thread(p, at, i)) return {distribution, {}};
      }
    }
  }
  return result;
}

template <class Whole, class Part, index_t... Dims>
inline constexpr auto along_strides_v = make_along_strides<Whole, Part>(array<index_t, sizeof...(Dims)>{Dims...});

/// Register of Part for register d of Whole: constants only, once a loop over d is unrolled.
template <class Whole, class Part, index_t... Dims, index_t... Ys>
TILEWRIGHT_HD constexpr index_t register_along(index_t d, sequence<Ys...>) {
  return (0 + ... +
          (modulo(divide(d, constant(Whole::encoding.y_stride(Ys))), constant(Whole::encoding.y_length(Ys))) *
           constant(along_strides_v<Whole, Part, Dims...>.strides[Ys])));
}
template <class Whole, class Part, index_t... Dims>
TILEWRIGHT_HD constexpr index_t register_along(index_t d) {
  return register_along<Whole, Part, Dims...>(d, make_sequence<Whole::ndim_y>{});
}

/// The element of an operand that belongs to register d of Whole's tile.
template <class Whole, class Tile>
  requires is_static_distributed_tensor_v<remove_const_t<Tile>>
TILEWRIGHT_HD constexpr auto& element_for(Tile& tile, index_t d) {
  return tile.thread_buffer[d];
}
template <class Whole, class Tile, index_t... Dims>
TILEWRIGHT_HD constexpr auto& element_for(const along_operand<Tile, Dims...>& operand, index_t d) {
  return operand.tile.thread_buffer[register_along<Whole, typename Tile::distribution_type, Dims...>(d)];
}

/// The further operands of an elementwise function.
template <class T>
inline constexpr bool is_operand_v = is_static_distributed_tensor_v<T>;
template <class Tile, index_t... Dims>
inline constexpr bool is_operand_v<along_operand<Tile, Dims...>> = true;

template <class First, class T, class Distribution>
TILEWRIGHT_HD constexpr void require_fit(const static_distributed_tensor<T, Distribution>&) {
  constexpr bool same_distribution = __is_same(typename First::distribution_type, Distribution);
  static_assert(
      same_distribution,
      "tile_elementwise: the tiles have different distributions; shuffle_tile gives one tile the distribution "
      "of another, along<dimensions>(tile) repeats a tile that lacks dimensions");
}
template <class First, class Tile, index_t... Dims>
TILEWRIGHT_HD constexpr void require_fit(const along_operand<Tile, Dims...>&) {
  constexpr along_fault fault =
      along_strides_v<typename First::distribution_type, typename Tile::distribution_type, Dims...>.fault;
  static_assert(fault != along_fault::dimensions,
                "along: name a dimension of the whole tile for each dimension of this one");
  static_assert(fault != along_fault::lengths, "along: the tiles differ in length along a dimension that is named");
  static_assert(fault != along_fault::distribution,
                "along: threads hold other coordinates of this tile than of the whole one; give it the distribution "
                "of a reduction, reduced_distribution<whole, other dimensions>");
}

}  // namespace detail

/// Operand of tile_elementwise_in and tile_elementwise_inout: a tile with dimensions Dims of the whole tile only, such
/// as a reduction's result. Each element of the whole tile meets the element at the same coordinates, which the same
/// thread must hold.
template <index_t... Dims, class T, class Distribution>
TILEWRIGHT_HD constexpr auto along(static_distributed_tensor<T, Distribution>& tile) {
  return detail::along_operand<static_distributed_tensor<T, Distribution>, Dims...>{tile};
}
template <index_t... Dims, class T, class Distribution>
TILEWRIGHT_HD constexpr auto along(const static_distributed_tensor<T, Distribution>& tile) {
  return detail::along_operand<const static_distributed_tensor<T, Distribution>, Dims...>{tile};
}

}  // namespace tilewright
