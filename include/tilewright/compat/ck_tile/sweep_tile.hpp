// SPDX-License-Identifier: MIT
// Loops over what a thread holds of a tile, with indices that are known at compile time.
#pragma once

#include <tilewright/compat/ck_tile/tile_index.hpp>
#include <tilewright/tile/registers/elementwise.hpp>

namespace tilewright {

namespace detail {

template <class F, class... Arguments>
concept CallableWith = requires(F& f, Arguments&&... arguments) { f(arguments...); };

TILEWRIGHT_CALLS_ANYTHING
template <class Tile, class F, index_t... Registers>
TILEWRIGHT_HD constexpr void sweep_registers(Tile& tile, F& f, sequence<Registers...>) {
  using distribution = typename Tile::distribution_type;
  if constexpr (CallableWith<F, tile_index<distribution, 0>>) {
    TILEWRIGHT_INLINE_CALLS(f(tile_index<distribution, Registers>{}), ...);
  } else {
    TILEWRIGHT_INLINE_CALLS(f(tile_index<distribution, Registers>{}, tile.thread_buffer[Registers]), ...);
  }
}

/// Elements of a thread along dimension X, for one position along the others.
template <class Distribution, index_t X>
inline constexpr index_t span_size = [] {
  const auto spans = get_distributed_spans(Distribution{});
  index_t n = 1;
  for (index_t length : spans[X]) n *= length;
  return n;
}();

/// Register of element k of the span along dimension X that begins at register 0.
template <class Distribution, index_t X>
TILEWRIGHT_HD constexpr index_t register_in_span(index_t k) {
  constexpr auto span = get_distributed_spans(Distribution{})[X];
  array<distributed_index, Distribution::ndim_x> indices = get_distributed_spans(Distribution{});
  for (distributed_index& of_one : indices) {
    for (index_t& digit : of_one) digit = 0;
  }
  for (index_t i = span.size(); i-- > 0; k /= span[i]) indices[X][i] = k % span[i];
  return find_register<Distribution>(indices);
}

TILEWRIGHT_CALLS_ANYTHING
template <class Distribution, index_t X, class F, index_t... Ks>
TILEWRIGHT_HD constexpr void sweep_span(F& f, sequence<Ks...>) {
  TILEWRIGHT_INLINE_CALLS(f(tile_index<Distribution, register_in_span<Distribution, X>(Ks)>::template get<X>()), ...);
}

}  // namespace detail

/// Calls f(index) or f(index, element) for each element that the thread holds, in the order of its registers. The index
/// is a tile_index: tile[index] is the element, in any tile of the distribution.
TILEWRIGHT_CALLS_ANYTHING
template <class Tile, class F>
  requires detail::is_static_distributed_tensor_v<detail::remove_const_t<Tile>>
TILEWRIGHT_HD constexpr void sweep_tile(Tile& tile, F f) {
  using index = detail::tile_index<typename Tile::distribution_type, 0>;
  constexpr bool fits =
      detail::CallableWith<F, index> || detail::CallableWith<F, index, decltype((tile.thread_buffer[0]))>;
  static_assert(fits, "sweep_tile: the function must take (index) or (index, element)");
  if constexpr (fits) detail::sweep_registers(tile, f, make_sequence<Tile::num_elements>{});
}

/// Calls f(tile_distributed_index) for what the thread holds along dimension X of the tile. Nested for each dimension,
/// tile[make_tuple(index0, index1)] is the element. Values of a row or a column for each element: along<X>(tile).
TILEWRIGHT_CALLS_ANYTHING
template <index_t X, class Tile, class F>
TILEWRIGHT_HD constexpr void sweep_tile_span(const Tile&, F f) {
  using distribution = typename Tile::distribution_type;
  constexpr bool exists = 0 <= X && X < distribution::ndim_x;
  static_assert(exists, "sweep_tile_span: the tile has no such dimension");
  if constexpr (exists) detail::sweep_span<distribution, X>(f, make_sequence<detail::span_size<distribution, X>>{});
}

/// Position in the tile of the calling thread's element at this index.
template <class Distribution, detail::ElementIndex Index>
TILEWRIGHT_HD constexpr multi_index<Distribution::ndim_x> get_x_indices_from_distributed_indices(
    Distribution, const Index&, const multi_index<Distribution::ndim_p>& p = get_partition_index<Distribution>()) {
  return detail::position_in_tile<Distribution>(Distribution::calculate_index(p),
                                                constant(detail::register_of<Distribution, Index>::value));
}

}  // namespace tilewright
