// SPDX-License-Identifier: MIT
// Views of the same memory with other coordinates, and stand-ins for tensors that a kernel does not have.
#pragma once

#include <tilewright/descriptor/transform_descriptor.hpp>
#include <tilewright/tile/elementwise.hpp>
#include <tilewright/tile/update.hpp>

namespace tilewright {

/// The view with its descriptor transformed; see transform_tensor_descriptor.
template <address_space_enum Space, class T, class Descriptor, class Transforms, class Lower, class Upper>
TILEWRIGHT_HD constexpr auto transform_tensor_view(const tensor_view<Space, T, Descriptor>& view,
                                                   const Transforms& transforms, Lower lower, Upper upper) {
  const auto descriptor = transform_tensor_descriptor(view.descriptor, transforms, lower, upper);
  return tensor_view<Space, T, detail::remove_const_t<decltype(descriptor)>>{view.buffer, descriptor};
}

namespace detail {

/// A dimension's transform: a right pad up to a multiple of the tile, or nothing.
template <bool Pads, class Length, class TileLength>
TILEWRIGHT_HD constexpr auto pad_to_tile(Length length, TileLength) {
  constexpr index_t tile = TileLength::value;
  if constexpr (!Pads) {
    return make_pass_through_transform(length);
  } else if constexpr (is_number_v<Length>) {
    return make_right_pad_transform(length, number<round_up<index_t>(Length::value, tile) - Length::value>{});
  } else {
    return make_right_pad_transform(length, round_up<index_t>(length, tile) - length);
  }
}

}  // namespace detail

/// The view with each dimension whose entry in `pads` is not 0 padded to a multiple of the tile's length; the padding
/// reads as zero and is not written. Windows check bounds without it; it serves transforms that need whole tiles,
/// unmerge for instance.
template <address_space_enum Space, class T, class Descriptor, class... TileLengths, index_t... Pads>
TILEWRIGHT_HD constexpr auto pad_tensor_view(const tensor_view<Space, T, Descriptor>& view,
                                             const tuple<TileLengths...>&, sequence<Pads...>) {
  constexpr index_t ndim = Descriptor::ndim;
  constexpr bool right_count = ndim == index_t(sizeof...(TileLengths)) && ndim == index_t(sizeof...(Pads));
  static_assert(right_count,
                "pad_tensor_view: one tile length and one entry of pads is needed for each dimension of the view");
  if constexpr (right_count) {
    return [&]<index_t... Ds>(sequence<Ds...>) {
      return transform_tensor_view(
          view,
          make_tuple(detail::pad_to_tile<(Pads != 0)>(view.descriptor.template get_length<Ds>(), TileLengths{})...),
          make_tuple(sequence<Ds>{}...), make_tuple(sequence<Ds>{}...));
    }(make_sequence<ndim>{});
  }
}

/// f of the elements of several windows of one distribution: what tile_elementwise_in gives for the loaded tiles.
template <class... Windows, class F>
TILEWRIGHT_HD auto load_tile_with_elementwise(const tuple<Windows...>& windows, F f) {
  return apply([&](const auto&... window)
                   TILEWRIGHT_INLINE_LAMBDA { return tile_elementwise_in(f, load_tile(window)...); },
               windows);
}

/// A tensor that is not there, an optional bias for instance: its windows can be made, moved, loaded (to a
/// null_tensor), stored and updated as others can, and do nothing. Ask is_null_v<type> where the elements matter.
struct null_tensor_view {};
struct null_tensor {};
struct null_tile_window {};

template <class... Lengths>
TILEWRIGHT_HD constexpr null_tile_window make_tile_window(const null_tensor_view&, const tuple<Lengths...>&,
                                                          const multi_index<sizeof...(Lengths)>&) {
  return {};
}
template <class... Lengths, TileDistribution Distribution>
TILEWRIGHT_HD constexpr null_tile_window make_tile_window(const null_tensor_view&, const tuple<Lengths...>&,
                                                          const multi_index<sizeof...(Lengths)>&, Distribution) {
  return {};
}
template <index_t N>
TILEWRIGHT_HD constexpr void move_tile_window(null_tile_window, const index_t (&)[N]) {}
template <index_t N>
TILEWRIGHT_HD constexpr void move_tile_window(null_tile_window, const multi_index<N>&) {}
template <index_t N>
TILEWRIGHT_HD constexpr void set_window_origin(null_tile_window, const index_t (&)[N]) {}
template <index_t N>
TILEWRIGHT_HD constexpr void set_window_origin(null_tile_window, const multi_index<N>&) {}
template <class Known = known_inside<>>
TILEWRIGHT_HD constexpr null_tensor load_tile(null_tile_window, Known = {}) {
  return {};
}
template <class Tile, class Known = known_inside<>>
TILEWRIGHT_HD constexpr void store_tile(null_tile_window, const Tile&, Known = {}) {}
template <memory_operation_enum, class Tile, class Known = known_inside<>>
TILEWRIGHT_HD constexpr void update_tile(null_tile_window, const Tile&, Known = {}) {}

/// Whether a view, a window or a tile stands for a tensor that is not there.
template <class T>
inline constexpr bool is_null_v =
    __is_same(T, null_tensor_view) || __is_same(T, null_tile_window) || __is_same(T, null_tensor);

}  // namespace tilewright
