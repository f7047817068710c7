// SPDX-License-Identifier: MIT
// Tile windows whose accesses share addresses along dimensions that the user states to be linear.
#pragma once

#include <tilewright/tile/tile_window.hpp>

namespace tilewright {

namespace detail {

template <class Window, class View, class Distribution>
TILEWRIGHT_HD constexpr Window make_grouped_window(const View& view, const multi_index<Window::ndim>& origin,
                                                   Distribution, const typename Window::table_type& indices) {
  Window window{view, origin, {{Distribution::calculate_index(get_partition_index<Distribution>())}}, {}, indices};
  if constexpr (TILEWRIGHT_CPU_PASS) expect_partition<Distribution>(get_partition_index<Distribution>());
  compute_bases(window, true, typename Window::base_sequence{}, typename Window::dim_sequence{});
  return window;
}

}  // namespace detail

/// A window of a view whose addresses are not linear as a whole (merged, swizzled, indexed) but are so along dimensions
/// `Linear`: accesses that differ only there share an address register, and moving along them is an addition.
/// The CPU backend checks the claim.
template <class View, class... Lengths, TileDistribution Distribution, index_t... Linear>
TILEWRIGHT_HD constexpr auto make_tile_window_linear(const View& view, const tuple<Lengths...>&,
                                                     const multi_index<sizeof...(Lengths)>& origin,
                                                     Distribution distribution, sequence<Linear...>) {
  constexpr index_t ndim = View::descriptor_type::ndim;
  constexpr bool num_lengths_match = ndim == index_t(sizeof...(Lengths));
  static_assert(num_lengths_match, "make_tile_window_linear: one length is needed for each dimension of the view");
  static_assert(((0 <= Linear && Linear < ndim) && ...), "make_tile_window_linear: the view has no such dimension");
  using window_type =
      tile_window<View, Distribution, address_plan{.is_grouped = true, .linear = (0u | ... | (1u << Linear))}>;
  if constexpr (!detail::are_lengths_of_tile_v<Distribution, Lengths...>)
    detail::require_lengths_of_tile<Distribution, Lengths...>();
  return detail::make_grouped_window<window_type>(view, origin, distribution, {});
}

}  // namespace tilewright
