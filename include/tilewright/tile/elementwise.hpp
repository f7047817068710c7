// SPDX-License-Identifier: MIT
// Element-wise functions of tiles in registers: f(element), set, cast.
#pragma once

#include <tilewright/numeric/stochastic.hpp>
#include <tilewright/numeric/types.hpp>
#include <tilewright/tile/along.hpp>
#include <tilewright/tile/get_partition_index.hpp>

namespace tilewright {

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

/// The tile with its elements converted as stochastic_round does. What is random depends on the seed and on the
/// position in the tile alone, so copies of an element stay alike; another tile needs another seed.
template <class To, class Distribution>
TILEWRIGHT_HD constexpr auto cast_tile_stochastic(
    const static_distributed_tensor<float, Distribution>& tile, unsigned seed,
    const multi_index<Distribution::ndim_p>& p = get_partition_index<Distribution>()) {
  static_distributed_tensor<To, Distribution> result{};
  const auto own = Distribution::calculate_index(p);
  TILEWRIGHT_UNROLL_ALL
  for (index_t d = 0; d < Distribution::num_elements; ++d) {
    const auto x = detail::position_in_tile<Distribution>(own, d);
    unsigned place = 0;  // in row-major order of the tile
    unroll<Distribution::ndim_x>(
        [&](auto i) { place = place * unsigned(constant(Distribution::x_lengths[i.value])) + unsigned(x[i]); });
    result.thread_buffer[d] = stochastic_round<To>(tile.thread_buffer[d], random_bits(seed, place));
  }
  return result;
}

}  // namespace tilewright
