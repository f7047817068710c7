// SPDX-License-Identifier: MIT
// CK Tile's pad_tensor_view: a view padded to whole tiles. Windows check bounds without it.
#pragma once

#include <tilewright/core/base/math.hpp>
#include <tilewright/tile/window/tensor_view.hpp>

namespace tilewright {

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

}  // namespace tilewright
