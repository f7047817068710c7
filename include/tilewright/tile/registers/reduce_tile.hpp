// SPDX-License-Identifier: MIT
// Reductions of a tile along some of its dimensions: in each thread, across lanes, across waves.
#pragma once

#include <tilewright/tile/registers/elementwise.hpp>
#include <tilewright/tile/registers/reduce_threads.hpp>

namespace tilewright {

/// The distribution of a reduction's result: that of a tile without dimensions Dims. Threads that differed only along
/// Dims hold the same elements. For tiles of one value per row or column, which along() takes as operands:
/// static_distributed_tensor<float, reduced_distribution<Distribution, 1>> has a float for each row.
template <TileDistribution Distribution, index_t... Dims>
using reduced_distribution = decltype(make_static_tile_distribution(
    make_reduce_tile_distribution_encoding(number<Distribution::encoding>{}, sequence<Dims...>{})));

namespace detail {

/// What elements are converted to before they are combined: int for integers, float for the others.
template <class T>
struct reduction_type {
  static_assert(sizeof(T) <= 4, "reduce: lanes exchange values of 4 bytes; cast_tile the tile to float or int first");
  using type = conditional_t<Integral<T>, int, float>;
};

/// The dimensions that a reduction keeps.
template <index_t N, index_t... Dims>
inline constexpr auto kept_dims = [] {
  array<index_t, N - index_t(sizeof...(Dims))> kept{};
  index_t n = 0;
  for (index_t x = 0; x < N; ++x) {
    if (((x != Dims) && ...)) kept[n++] = x;
  }
  return kept;
}();

/// Whether register d is at 0 along dimensions Dims, so that it is the first of those that are combined.
template <class Distribution, index_t... Dims, index_t... Ys>
TILEWRIGHT_HD constexpr bool is_first_along(index_t d, sequence<Ys...>) {
  const auto is_reduced = [](index_t x) { return ((x == Dims) || ...); };
  return (true && ... &&
          (!is_reduced(constant(Distribution::encoding.y[Ys].major - 1)) ||
           modulo(divide(d, constant(Distribution::encoding.y_stride(Ys))),
                  constant(Distribution::encoding.y_length(Ys))) == 0));
}

/// The register of the reduced tile that belongs to register d: constants only, once a loop over d is unrolled.
template <class Distribution, index_t... Dims, index_t... Ks>
TILEWRIGHT_HD constexpr index_t register_without(index_t d, sequence<Ks...>) {
  return register_along<Distribution, reduced_distribution<Distribution, Dims...>,
                        constant(kept_dims<Distribution::ndim_x, Dims...>[Ks])...>(d);
}
template <class Distribution, index_t... Dims>
TILEWRIGHT_HD constexpr index_t register_without(index_t d) {
  return register_without<Distribution, Dims...>(d, make_sequence<Distribution::ndim_x - index_t(sizeof...(Dims))>{});
}

/// Combines what each thread holds along Dims.
TILEWRIGHT_CALLS_ANYTHING
template <class Acc, index_t... Dims, class T, class Distribution, class F>
TILEWRIGHT_HD constexpr auto reduce_registers(const static_distributed_tensor<T, Distribution>& tile, F f,
                                              sequence<Dims...>) {
  static_distributed_tensor<Acc, reduced_distribution<Distribution, Dims...>> result{};
  TILEWRIGHT_UNROLL_ALL
  for (index_t d = 0; d < Distribution::num_elements; ++d) {
    Acc& to = result.thread_buffer[register_without<Distribution, Dims...>(d)];
    const Acc element = type_convert<Acc>(tile.thread_buffer[d]);
    const bool is_first = is_first_along<Distribution, Dims...>(d, make_sequence<Distribution::ndim_y>{});
    to = is_first ? element : combine(f, to, element);
  }
  return result;
}

/// Whether waves share the elements that a reduction along Dims combines.
template <class Distribution, index_t... Dims>
inline constexpr bool reduction_crosses_waves =
    wave_group_v<reduced_distribution<Distribution, Dims...>, Distribution::encoding.r.size()>.count > 1;

}  // namespace detail

/// Bytes of LDS that reduce<Dims...>(tile, f, lds) needs: a word for each wave and each element of the result; 0 if no
/// two waves share one.
template <class Tile, index_t... Dims>
inline constexpr index_t reduce_lds_bytes = [] {
  using distribution = typename detail::remove_const_t<Tile>::distribution_type;
  using reduced = reduced_distribution<distribution, Dims...>;
  if constexpr (detail::reduction_crosses_waves<distribution, Dims...>) {
    return detail::wave_slots<reduced, reduced::num_elements>::bytes;
  } else {
    return 0;
  }
}();

/// Combines the elements of a tile along dimensions Dims by f: plus, max, min, or your own function of two floats or
/// ints that does not depend on the order. Returns a tile of reduced_distribution<Distribution, Dims...> of float (int
/// for integers); all threads that held an element of a row hold the row's result. Every thread of the block calls it.
/// Where waves share a row, LDS is needed: reduce(tile, f, lds).
TILEWRIGHT_CALLS_ANYTHING
template <index_t... Dims, class T, class Distribution, class F>
TILEWRIGHT_HD auto reduce(const static_distributed_tensor<T, Distribution>& tile, F f, exec::call_site where = {}) {
  const exec::call_scope scope(where);
  constexpr bool stays_in_wave = !detail::reduction_crosses_waves<Distribution, Dims...>;
  static_assert(stays_in_wave,
                "reduce: waves share the elements that are combined; pass reduce_lds_bytes<Tile, dimensions...> bytes "
                "of LDS as the last argument");
  using type = typename detail::reduction_type<T>::type;
  auto result = detail::reduce_registers<type>(tile, f, sequence<Dims...>{});
  detail::reduce_lanes<Distribution::encoding.r.size()>(result, f);
  return result;
}
/// reduce() for rows that waves share too, with reduce_lds_bytes<Tile, Dims...> bytes of LDS at `lds`. Waits once,
/// between writing and reading LDS: no thread may still use this LDS before, and a barrier must come before it is used
/// again, also by another reduction.
TILEWRIGHT_CALLS_ANYTHING
template <index_t... Dims, class T, class Distribution, class F>
TILEWRIGHT_HD auto reduce(const static_distributed_tensor<T, Distribution>& tile, F f, exec::lds_pointer lds,
                          exec::call_site where = {}) {
  const exec::call_scope scope(where);
  constexpr index_t old_factors = Distribution::encoding.r.size();
  using type = typename detail::reduction_type<T>::type;
  auto result = detail::reduce_registers<type>(tile, f, sequence<Dims...>{});
  detail::reduce_lanes<old_factors>(result, f);
  if constexpr (detail::reduction_crosses_waves<Distribution, Dims...>)
    detail::reduce_waves<old_factors>(result, lds, f);
  return result;
}

namespace detail {
/// f(init, result) for each element; init: a tile of the result's distribution, or a value.
TILEWRIGHT_CALLS_ANYTHING
template <class Result, class F, class Init>
TILEWRIGHT_HD auto combine_with(Result result, F f, const Init& init) {
  if constexpr (is_static_distributed_tensor_v<Init>) {
    tile_elementwise_inout([&](auto& x, const auto& y) TILEWRIGHT_INLINE_LAMBDA { x = combine(f, y, x); }, result,
                           init);
  } else {
    using type = typename Result::element_type;
    tile_elementwise_inout([&](auto& x) TILEWRIGHT_INLINE_LAMBDA { x = combine(f, type(init), x); }, result);
  }
  return result;
}
}  // namespace detail

/// reduce<1>(tile, f[, lds]): one element for each row of the tile. What reduce() says of LDS holds: a barrier must
/// come before it is used again.
TILEWRIGHT_CALLS_ANYTHING
template <class Tile, class F>
TILEWRIGHT_HD auto row_reduce(const Tile& tile, F f, exec::call_site where = {}) {
  return reduce<1>(tile, f, where);
}
TILEWRIGHT_CALLS_ANYTHING
template <class Tile, class F>
TILEWRIGHT_HD auto row_reduce(const Tile& tile, F f, exec::lds_pointer lds, exec::call_site where = {}) {
  return reduce<1>(tile, f, lds, where);
}
/// row_reduce(tile, f[, lds]) combined with `init`: a value, or a tile of the result's distribution such as a running
/// maximum.
TILEWRIGHT_CALLS_ANYTHING
template <class Tile, class F, class Init>
  requires(!__is_same(Init, exec::lds_pointer) && !__is_same(Init, exec::call_site))
TILEWRIGHT_HD auto row_reduce(const Tile& tile, F f, const Init& init, exec::call_site where = {}) {
  return detail::combine_with(reduce<1>(tile, f, where), f, init);
}
TILEWRIGHT_CALLS_ANYTHING
template <class Tile, class F, class Init>
TILEWRIGHT_HD auto row_reduce(const Tile& tile, F f, const Init& init, exec::lds_pointer lds,
                              exec::call_site where = {}) {
  return detail::combine_with(reduce<1>(tile, f, lds, where), f, init);
}

}  // namespace tilewright
