// SPDX-License-Identifier: MIT
// Makes and moves tile windows.
#pragma once

#include <tilewright/tile/registers/get_partition_index.hpp>
#include <tilewright/tile/window/detail/window_addresses.hpp>

namespace tilewright {

namespace detail {

/// One length of a window and of its distribution's tile: compilers print both.
template <index_t Length, index_t LengthOfTile>
TILEWRIGHT_HD constexpr void require_length_of_tile() {
  static_assert(Length == LengthOfTile, "tile_window: the lengths are not those of the tile distribution");
}

/// Refuses lengths that are not those of the distribution's tile.
template <class Distribution, class... Lengths>
TILEWRIGHT_HD constexpr void require_lengths_of_tile() {
  constexpr bool are_known = (is_number_v<Lengths> && ...);
  static_assert(are_known,
                "tile_window: the lengths are those of the distribution's tile, which the compiler knows: give them as "
                "number<N>{}s; only the tensor's may be integers");
  if constexpr (are_known && sizeof...(Lengths) == Distribution::ndim_x) {
    [&]<index_t... Ds>(sequence<Ds...>) TILEWRIGHT_INLINE_LAMBDA {
      (require_length_of_tile<Lengths::value, Distribution::x_lengths[Ds]>(), ...);
    }(make_sequence<Distribution::ndim_x>{});
  }
}

template <class Distribution, class... Lengths>
inline constexpr bool are_lengths_of_tile_v = false;
template <class Distribution, auto... Lengths>
  requires(sizeof...(Lengths) == Distribution::ndim_x)
inline constexpr bool are_lengths_of_tile_v<Distribution, number<Lengths>...> =
    array<index_t, sizeof...(Lengths)>{{Lengths...}} == Distribution::x_lengths;

/// Sets a window to what make_tile_window makes, field by field. Results of up to 64 bytes are taken apart and put
/// together again on AMD GPUs, which takes their compiler longer than making them.
template <class Window>
TILEWRIGHT_HD constexpr void place_window(Window& window, const typename Window::view_type& view,
                                          const multi_index<Window::ndim>& origin,
                                          const multi_index<Window::distribution_type::ndim_p>& p) {
  using distribution = typename Window::distribution_type;
  if constexpr (TILEWRIGHT_CPU_PASS) expect_partition<distribution>(p);
  window.view = view;
  window.origin = origin;
  window.thread_index = {{distribution::calculate_index(p)}};
  compute_bases(window, true, typename Window::base_sequence{}, typename Window::dim_sequence{});
}

template <class Window, class View, class Distribution>
TILEWRIGHT_HD constexpr Window make_grouped_window(const View& view, const multi_index<Window::ndim>& origin,
                                                   Distribution, const typename Window::table_type& indices) {
  Window window{view, origin, {{Distribution::calculate_index(get_partition_index<Distribution>())}}, {}, indices};
  if constexpr (TILEWRIGHT_CPU_PASS) expect_partition<Distribution>(get_partition_index<Distribution>());
  compute_bases(window, true, typename Window::base_sequence{}, typename Window::dim_sequence{});
  return window;
}

}  // namespace detail

/// The window of the given lengths whose first element is at `origin`. Lengths are number<N>{}s and must be those of
/// the distribution. The origin is the same for all threads of a block; vectors need it to be a multiple of the vector
/// length in their dimension, and swizzled views need it to be a multiple of the window's lengths: the CPU emulator
/// checks both. `p` is whose part of the tile the thread accesses, its own unless said otherwise.
template <class View, class... Lengths, TileDistribution Distribution>
TILEWRIGHT_HD constexpr auto make_tile_window(
    const View& view, const tuple<Lengths...>&, const multi_index<sizeof...(Lengths)>& origin, Distribution,
    const multi_index<Distribution::ndim_p>& p = detail::partition_index<Distribution::ndim_p>()) {
  using window_type = tile_window<View, Distribution>;
  constexpr bool num_lengths_match = window_type::ndim == index_t(sizeof...(Lengths));
  static_assert(num_lengths_match, "make_tile_window: one length is needed for each dimension of the view");
  if constexpr (!detail::are_lengths_of_tile_v<Distribution, Lengths...>)
    detail::require_lengths_of_tile<Distribution, Lengths...>();
  if constexpr (TILEWRIGHT_CPU_PASS) detail::expect_partition<Distribution>(p);
  window_type window{view, origin, {{Distribution::calculate_index(p)}}, {}, {}};
  detail::compute_bases(window, true, typename window_type::base_sequence{}, typename window_type::dim_sequence{});
  return window;
}

/// Refuses an origin of another number of dimensions, in a sentence.
template <class View, class... Lengths, index_t N, TileDistribution Distribution>
  requires(N != index_t(sizeof...(Lengths)))
TILEWRIGHT_HD constexpr auto make_tile_window(const View& view, const tuple<Lengths...>& lengths,
                                              const array<index_t, N>&, Distribution distribution) {
  static_assert(N == index_t(sizeof...(Lengths)), "make_tile_window: the origin needs one entry for each dimension");
  return make_tile_window(view, lengths, multi_index<sizeof...(Lengths)>{}, distribution);
}

/// The same at an origin that is known at compile time, make_tuple(number<M>{}, number<K>{}): the compiler checks it.
template <class View, class... Lengths, auto... Origin, TileDistribution Distribution>
  requires(sizeof...(Origin) > 0)  // {} is the index zero
TILEWRIGHT_HD constexpr auto make_tile_window(const View& view, const tuple<Lengths...>& lengths,
                                              const tuple<number<Origin>...>&, Distribution distribution) {
  using window_type = tile_window<View, Distribution>;
  static_assert(sizeof...(Origin) == sizeof...(Lengths),
                "make_tile_window: the origin needs one entry for each dimension");
  constexpr multi_index<sizeof...(Lengths)> origin{{Origin...}};
  constexpr bool has_whole_tiles = detail::origin_has_whole_tiles<window_type>(origin);
  static_assert(has_whole_tiles,
                "make_tile_window: the view is swizzled, so the origin must be a multiple of the window's lengths in "
                "each dimension");
  constexpr bool has_whole_vectors = detail::origin_has_whole_vectors<window_type>(origin);
  static_assert(has_whole_vectors,
                "make_tile_window: the origin must be a multiple of the vector's length along the vectors");
  return make_tile_window(view, lengths, multi_index<sizeof...(Lengths)>{{Origin...}}, distribution);
}

/// Moves the window by a number of elements along each dimension. Along a gathered dimension it moves by other indices
/// only: update_page_idx.
template <class View, class Distribution, address_plan Plan>
TILEWRIGHT_HD constexpr void move_tile_window(tile_window<View, Distribution, Plan>& window,
                                              const multi_index<View::descriptor_type::ndim>& step) {
  if constexpr (TILEWRIGHT_CPU_PASS && Plan.gathered >= 0) {
    exec::expect(step[Plan.gathered] == 0,
                 "move_tile_window: along the gathered dimension a window moves by update_page_idx");
  }
  unroll<View::descriptor_type::ndim>([&](auto d) { window.origin[d] += step[d]; });
  if constexpr (TILEWRIGHT_CPU_PASS) detail::expect_allowed_origin(window);
  detail::move_addresses(window, step);
}

/// Moves the window so that its first element is at `origin`.
template <class View, class Distribution, address_plan Plan>
TILEWRIGHT_HD constexpr void set_window_origin(tile_window<View, Distribution, Plan>& window,
                                               const multi_index<View::descriptor_type::ndim>& origin) {
  multi_index<View::descriptor_type::ndim> step = origin;
  unroll<View::descriptor_type::ndim>([&](auto d) { step[d] -= window.origin[d]; });
  move_tile_window(window, step);
}

/// The window at the same place of another tensor.
template <class View, class OldView, class Distribution>
TILEWRIGHT_HD constexpr auto replace_bottom_tensor_view(const View& view,
                                                        const tile_window<OldView, Distribution>& old) {
  constexpr bool has_same_dimensions = View::descriptor_type::ndim == tile_window<OldView, Distribution>::ndim;
  static_assert(has_same_dimensions, "replace_bottom_tensor_view: the new tensor has another number of dimensions");
  using window_type = tile_window<View, Distribution>;
  window_type window{view, old.origin, old.thread_index, {}, {}};
  detail::compute_bases(window, true, typename window_type::base_sequence{}, typename window_type::dim_sequence{});
  return window;
}

/// A window that belongs to no threads yet: a place and lengths.
/// make_tile_window(it, distribution) makes one that can be loaded.
template <class View, class... Lengths>
struct tile_window_with_static_lengths {
  using view_type = View;
  static constexpr index_t ndim = View::descriptor_type::ndim;
  static constexpr bool num_lengths_match = ndim == index_t(sizeof...(Lengths));
  static_assert(num_lengths_match, "make_tile_window: one length is needed for each dimension of the view");

  View view;
  multi_index<ndim> origin;

  TILEWRIGHT_HD constexpr const multi_index<ndim>& get_window_origin() const { return origin; }
  TILEWRIGHT_HD static constexpr multi_index<ndim> get_window_lengths() { return {{Lengths::value...}}; }
  TILEWRIGHT_HD constexpr const View& get_bottom_tensor_view() const { return view; }
};

/// Such a window; its distribution comes later.
template <class View, class... Lengths>
TILEWRIGHT_HD constexpr auto make_tile_window(const View& view, const tuple<Lengths...>&,
                                              const multi_index<sizeof...(Lengths)>& origin) {
  return tile_window_with_static_lengths<View, Lengths...>{view, origin};
}

/// The window that has these lengths at this place, for the threads of a distribution.
template <class View, class... Lengths, TileDistribution Distribution>
TILEWRIGHT_HD constexpr auto make_tile_window(const tile_window_with_static_lengths<View, Lengths...>& window,
                                              Distribution distribution) {
  return make_tile_window(window.view, tuple<Lengths...>{}, window.origin, distribution);
}

/// Moves it by a number of elements along each dimension.
template <class View, class... Lengths>
TILEWRIGHT_HD constexpr void move_tile_window(tile_window_with_static_lengths<View, Lengths...>& window,
                                              const multi_index<sizeof...(Lengths)>& step) {
  for (index_t d = 0; d < index_t(sizeof...(Lengths)); ++d) window.origin[d] += step[d];
}

/// A window of a view whose addresses are not linear as a whole (merged, swizzled, indexed) but are so along dimensions
/// `Linear`: accesses that differ only there share an address register, and moving along them is an addition.
/// The CPU emulator checks the claim.
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
