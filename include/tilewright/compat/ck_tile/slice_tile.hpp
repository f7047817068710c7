// SPDX-License-Identifier: MIT
// Slices of tiles in registers, and of windows.
#pragma once

#include <tilewright/core/distribution/slice_encoding.hpp>
#include <tilewright/tile/registers/static_distributed_tensor.hpp>
#include <tilewright/tile/window/tile_window.hpp>

namespace tilewright {

namespace detail {

template <class Distribution, index_t... Begins, index_t... Ends>
TILEWRIGHT_HD constexpr encoding_slice slice_of(sequence<Begins...>, sequence<Ends...>) {
  return slice(Distribution::encoding, multi_index<Distribution::ndim_x>{Begins...},
               multi_index<Distribution::ndim_x>{Ends...});
}

/// Registers of the whole tile, for each register of the part.
template <class Distribution, class Begins, class Ends>
inline constexpr auto registers_of_part = [] {
  constexpr encoding_slice part = slice_of<Distribution>(Begins{}, Ends{});
  array<index_t, part.encoding.num_elements_per_thread()> registers{};
  for (index_t d = 0; d < registers.size(); ++d) {
    multi_index<Distribution::ndim_y> y{};
    for (index_t i = Distribution::ndim_y, rest = d; i-- > 0; rest /= part.y_lengths[i])
      y[i] = part.y_begins[i] + rest % part.y_lengths[i];
    registers[d] = Distribution::y_to_register(y);
  }
  return registers;
}();

}  // namespace detail

/// Elements begins <= x < ends of a tile, as a tile of their own. Only what threads hold can be cut;
/// see slice_distribution_from_x.
template <class T, class Distribution, index_t... Begins, index_t... Ends>
TILEWRIGHT_HD constexpr auto get_slice_tile(const static_distributed_tensor<T, Distribution>& tile,
                                            sequence<Begins...> begins, sequence<Ends...> ends) {
  using sliced = decltype(slice_distribution_from_x(Distribution{}, begins, ends));
  if constexpr (!__is_same(sliced, void)) {
    using part_distribution = detail::remove_cvref_t<decltype(detail::declval<sliced>().template get<0>())>;
    static_distributed_tensor<T, part_distribution> part{};
    unroll<part_distribution::num_elements>([&](auto d) {
      part.thread_buffer[d] = tile.thread_buffer[constant(
          detail::registers_of_part<Distribution, sequence<Begins...>, sequence<Ends...>>[d.value])];
    });
    return part;
  }
}

/// Writes a tile to elements begins <= x < ends of another one: the inverse of get_slice_tile.
template <class T, class Distribution, class Part, index_t... Begins, index_t... Ends>
TILEWRIGHT_HD constexpr void set_slice_tile(static_distributed_tensor<T, Distribution>& tile, const Part& part,
                                            sequence<Begins...> begins, sequence<Ends...> ends) {
  using sliced = decltype(slice_distribution_from_x(Distribution{}, begins, ends));
  if constexpr (!__is_same(sliced, void)) {
    using part_distribution = detail::remove_cvref_t<decltype(detail::declval<sliced>().template get<0>())>;
    constexpr bool fits = __is_same(Part, static_distributed_tensor<T, part_distribution>);
    static_assert(fits,
                  "set_slice_tile: the part must be what get_slice_tile gives for this tile, these begins and ends");
    if constexpr (fits) {
      unroll<part_distribution::num_elements>([&](auto d) {
        tile.thread_buffer[constant(
            detail::registers_of_part<Distribution, sequence<Begins...>, sequence<Ends...>>[d.value])] =
            part.thread_buffer[d];
      });
    }
  }
}

/// The part of a window without threads.
template <class View, class... Lengths, index_t... Begins, index_t... Ends>
TILEWRIGHT_HD constexpr auto get_slice_tile(const tile_window_with_static_lengths<View, Lengths...>& window,
                                            sequence<Begins...>, sequence<Ends...>) {
  constexpr bool right_count = sizeof...(Begins) == sizeof...(Lengths) && sizeof...(Ends) == sizeof...(Lengths);
  static_assert(right_count, "get_slice_tile: begins and ends need one entry for each dimension of the window");
  if constexpr (right_count) {
    static_assert(((0 <= Begins && Begins < Ends && Ends <= Lengths::value) && ...),
                  "get_slice_tile: the part must lie inside of the window, with begins less than ends");
    multi_index<sizeof...(Lengths)> origin = window.origin;
    index_t d = 0;
    ((origin[d++] += Begins), ...);
    return make_tile_window(window.view, make_tuple(number<Ends - Begins>{}...), origin);
  }
}

}  // namespace tilewright
