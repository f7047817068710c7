// SPDX-License-Identifier: MIT
// Indices of a thread's elements that are types: what sweep_tile and sweep_tile_span give, and tile[index] takes.
#pragma once

#include <tilewright/compat/ck_tile/distributed_span.hpp>
#include <tilewright/tile/registers/static_distributed_tensor.hpp>

namespace tilewright::detail {

/// The index of a thread's elements along one dimension of the tile: a digit for each factor of the dimension that the
/// thread holds, the most significant factor first.
template <index_t... Digits>
struct tile_distributed_index {
  static constexpr index_t size = sizeof...(Digits);
  TILEWRIGHT_HD static constexpr distributed_index value() {
    distributed_index digits;
    (digits.push_back(Digits), ...);
    return digits;
  }
};

/// Digits of register d along dimension X of the tile.
template <class Distribution, index_t X>
TILEWRIGHT_HD constexpr distributed_index digits_along(index_t d) {
  distributed_index digits;
  for_each_held_factor(Distribution::encoding, [&](index_t x, index_t, index_t y) {
    if (x == X) digits.push_back(d / Distribution::encoding.y_stride(y) % Distribution::encoding.y_length(y));
  });
  return digits;
}
template <class Distribution, index_t X, index_t Register>
inline constexpr distributed_index digits_along_v = digits_along<Distribution, X>(Register);

template <class Distribution, index_t X, index_t Register, index_t... Ks>
TILEWRIGHT_HD constexpr tile_distributed_index<digits_along_v<Distribution, X, Register>[Ks]...> index_along(
    sequence<Ks...>) {
  return {};
}

/// The register at these indices; -1 if the thread holds no such element.
template <class Distribution>
TILEWRIGHT_HD constexpr index_t find_register(const array<distributed_index, Distribution::ndim_x>& indices) {
  const auto spans = get_distributed_spans(Distribution{});
  for (index_t x = 0; x < Distribution::ndim_x; ++x) {
    if (indices[x].size() != spans[x].size()) return -1;
    for (index_t k = 0; k < spans[x].size(); ++k) {
      if (indices[x][k] < 0 || indices[x][k] >= spans[x][k]) return -1;
    }
  }
  return Distribution::y_to_register(get_y_indices_from_distributed_indices(Distribution{}, indices));
}

/// The index of one element that a thread holds, as sweep_tile gives it. i[number<0>{}] or get<0>(i) is the
/// tile_distributed_index along dimension 0, which indexes tiles that have only this dimension.
template <class Distribution, index_t Register>
struct tile_index {
  TILEWRIGHT_HD static constexpr index_t size() { return Distribution::ndim_x; }
  template <index_t X>
  TILEWRIGHT_HD static constexpr auto get() {
    static_assert(0 <= X && X < Distribution::ndim_x, "tile_index: the tile has no such dimension");
    return detail::index_along<Distribution, X, Register>(
        make_sequence<detail::digits_along_v<Distribution, X, Register>.size()>{});
  }
  template <auto X>
  TILEWRIGHT_HD constexpr auto operator[](number<X>) const {
    return get<X>();
  }
};

/// The register of a thread's element: Index is a tile_index of this distribution, or a tuple of one
/// tile_distributed_index for each dimension of the tile.
template <TileDistribution Distribution, class... Indices>
struct register_of<Distribution, tuple<Indices...>> {
  static_assert(sizeof...(Indices) == Distribution::ndim_x,
                "tile_distributed_index: one index is needed for each dimension of the tile");
  static constexpr index_t value = [] {
    if constexpr (sizeof...(Indices) != Distribution::ndim_x)
      return 0;
    else
      return detail::find_register<Distribution>({{Indices::value()...}});
  }();
  static_assert(value >= 0, "tile_distributed_index: the index is not one of the tile's distributed spans");
};
template <TileDistribution Distribution, class Of, index_t Register>
struct register_of<Distribution, tile_index<Of, Register>> {
  static constexpr bool same_distribution = __is_same(Distribution, Of);
  static_assert(same_distribution,
                "tile_index: the index belongs to a tile of another distribution; i[number<d>{}] is its part along "
                "dimension d");
  static constexpr index_t value = same_distribution ? Register : 0;
};

template <class... Indices>
inline constexpr bool is_element_index_v<tuple<Indices...>> = true;
template <class Distribution, index_t Register>
inline constexpr bool is_element_index_v<tile_index<Distribution, Register>> = true;

}  // namespace tilewright::detail
