// SPDX-License-Identifier: MIT
// Element-wise functions of tiles in registers: f(element), set, cast. along() broadcasts a tile along the dimensions
// that it lacks, as an operand.
#pragma once

#include <tilewright/core/base/types.hpp>
#include <tilewright/core/distribution/reduce_encoding.hpp>
#include <tilewright/tile/registers/get_partition_index.hpp>
#include <tilewright/tile/registers/static_distributed_tensor.hpp>

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
  for (index_t i = 0; i < N; ++i) {
    if (!whole.places_threads_like(part, dims[i], i)) return {distribution, {}};
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

/// f(element of each tile), for tiles of one distribution and along<...>(tile); the result has the type that f returns.
TILEWRIGHT_CALLS_ANYTHING
template <class F, class First, class... Others>
  requires(detail::is_static_distributed_tensor_v<First> && ... && detail::is_operand_v<Others>)
TILEWRIGHT_HD constexpr auto tile_elementwise_in(F f, const First& first, const Others&... others) {
  using distribution = typename First::distribution_type;
  (detail::require_fit<First>(others), ...);
  static_distributed_tensor<
      detail::remove_cvref_t<decltype(f(first.thread_buffer[0], detail::element_for<distribution>(others, 0)...))>,
      distribution>
      result;
  TILEWRIGHT_UNROLL_ALL
  for (index_t d = 0; d < First::num_elements; ++d)
    result.thread_buffer[d] = f(first.thread_buffer[d], detail::element_for<distribution>(others, d)...);
  return result;
}

/// f(element of each tile), which may change them; tiles as above.
TILEWRIGHT_CALLS_ANYTHING
template <class F, class First, class... Others>
  requires(detail::is_static_distributed_tensor_v<detail::remove_const_t<First>> && ... &&
           detail::is_operand_v<detail::remove_cvref_t<Others>>)
TILEWRIGHT_HD constexpr void tile_elementwise_inout(F f, First& first, Others&&... others) {
  using distribution = typename First::distribution_type;
  (detail::require_fit<First>(others), ...);
  TILEWRIGHT_UNROLL_ALL
  for (index_t d = 0; d < First::num_elements; ++d)
    f(first.thread_buffer[d], detail::element_for<distribution>(others, d)...);
}

/// Sets every element that the thread holds.
template <class T, class Distribution>
TILEWRIGHT_HD constexpr void set_tile(static_distributed_tensor<T, Distribution>& tile,
                                      detail::type_identity_t<T> value) {
  TILEWRIGHT_UNROLL_ALL
  for (index_t d = 0; d < Distribution::num_elements; ++d) tile.thread_buffer[d] = value;
}

/// Sets all elements to zero.
template <class T, class Distribution>
TILEWRIGHT_HD constexpr void clear_tile(static_distributed_tensor<T, Distribution>& tile) {
  set_tile(tile, type_convert<T>(0));
}

/// Sets the elements whose position in the tile satisfies predicate(multi_index). `p` is the thread's partition index.
TILEWRIGHT_CALLS_ANYTHING
template <class T, class Distribution, class Predicate>
TILEWRIGHT_HD constexpr void set_tile_if(
    static_distributed_tensor<T, Distribution>& tile, detail::type_identity_t<T> value, Predicate predicate,
    const multi_index<Distribution::ndim_p>& p = get_partition_index<Distribution>()) {
  const multi_index<Distribution::ndim_x> own = Distribution::calculate_index(p);
  TILEWRIGHT_UNROLL_ALL
  for (index_t d = 0; d < Distribution::num_elements; ++d) {
    if (predicate(detail::position_in_tile<Distribution>(own, d))) tile.thread_buffer[d] = value;
  }
}

namespace detail {

/// Sets `result` to the tile with its elements converted.
template <class To, class T, class Distribution>
TILEWRIGHT_HD constexpr void cast_into(static_distributed_tensor<To, Distribution>& result,
                                       const static_distributed_tensor<T, Distribution>& tile) {
  constexpr index_t n = Distribution::num_elements;
  if constexpr (__is_same(To, T)) {
    result.thread_buffer = tile.thread_buffer;
  } else if constexpr (detail::is_small_float_v<To> && n > 1) {
    TILEWRIGHT_UNROLL_ALL
    for (index_t d = 0; d + 1 < n; d += 2) {
      const array<To, 2> pair = convert_pair<To>(float(tile.thread_buffer[d]), float(tile.thread_buffer[d + 1]));
      result.thread_buffer[d] = pair[0];
      result.thread_buffer[d + 1] = pair[1];
    }
    if constexpr (n % 2 != 0) result.thread_buffer[n - 1] = type_convert<To>(tile.thread_buffer[n - 1]);
  } else {
    TILEWRIGHT_UNROLL_ALL
    for (index_t d = 0; d < n; ++d) result.thread_buffer[d] = type_convert<To>(tile.thread_buffer[d]);
  }
}

}  // namespace detail

/// The tile with its elements converted as type_convert does: rounded to nearest, and saturated where 8 bits result.
template <class To, class T, class Distribution>
TILEWRIGHT_HD constexpr auto cast_tile(const static_distributed_tensor<T, Distribution>& tile) {
  static_distributed_tensor<To, Distribution> result{};
  detail::cast_into(result, tile);
  return result;
}

}  // namespace tilewright
