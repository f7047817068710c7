// SPDX-License-Identifier: MIT
// A tile window: a view, a tile distribution, and the addresses of the calling thread's accesses.
#pragma once

#include <tilewright/tile/registers/get_partition_index.hpp>
#include <tilewright/tile/window/detail/window_addresses.hpp>

namespace tilewright {

/// Made by make_tile_window and make_async_tile_window, moved by move_tile_window. Addresses are computed when the
/// window is made: accesses whose addresses differ by constants share one. Moving along dimensions of a linear view
/// only moves the buffer's first byte. Permutation: lanes make each other's accesses (make_async_tile_window).
template <class View, TileDistribution Distribution, detail::lane_permutation Permutation = detail::lane_permutation{}>
struct tile_window {
  using view_type = View;
  using distribution_type = Distribution;
  using element_type = typename View::element_type;
  using descriptor_type = typename View::descriptor_type;
  static constexpr index_t ndim = descriptor_type::ndim;          ///< dimensions
  static constexpr tensor_graph graph = descriptor_type::graph;   ///< of the view's descriptor
  static constexpr index_t element_bytes = sizeof(element_type);  ///< of an element
  /// offsets are sums of multiples of the indices: the buffer moves with the window
  static constexpr bool is_linear_view = number<detail::grows_linearly(graph)>::value;
  using accesses = access_plan<graph, Distribution::encoding, element_bytes, Permutation>;
  static constexpr address_rule rule = accesses::list.rule;  ///< how addresses follow from the window's position
  static constexpr index_t num_access = accesses::list.base.size();       ///< Accesses of a thread.
  static constexpr index_t num_bases = accesses::list.num_bases;          ///< Addresses that they start from.
  static constexpr index_t num_lanes = accesses::list.num_lanes;          ///< Lanes whose accesses the thread makes.
  static constexpr index_t vector_length = accesses::list.vector.length;  ///< Elements of an access.
  static constexpr index_t vector_dim_y = accesses::list.vector.dim_y;    ///< The Y along which they are.
  static constexpr index_t register_step = Distribution::encoding.y_stride(vector_dim_y);  ///< From one to the next.
  using vector_type = vector_t<element_type, vector_length>;
  using access_sequence = make_sequence<num_access>;
  using base_sequence = make_sequence<num_bases>;
  using dim_sequence = make_sequence<ndim>;

  View view;                                         ///< Of a linear view the buffer begins at the origin.
  multi_index<ndim> origin;                          ///< Index in the tensor of the window's first element.
  array<multi_index<ndim>, num_lanes> thread_index;  ///< In the window: of each lane whose accesses the thread makes.
  array<index_t, num_bases> base;                    ///< Byte offsets from the buffer's first byte.

  /// Index in the tensor of the window's first element.
  TILEWRIGHT_HD constexpr const multi_index<ndim>& get_window_origin() const { return origin; }
  /// Elements along each dimension.
  TILEWRIGHT_HD static constexpr multi_index<ndim> get_window_lengths() { return Distribution::get_lengths(); }
  /// Who holds which element.
  TILEWRIGHT_HD static constexpr Distribution get_tile_distribution() { return {}; }

  /// Byte offset of access number Access from the buffer's first byte, not compared with the tensor's bounds.
  template <index_t Access>
  TILEWRIGHT_HD constexpr index_t offset() const {
    return base.elements[constant(accesses::list.base[Access])] +
           constant(accesses::list.immediate[Access] * element_bytes);
  }

  /// offset<Access>() for accesses Is; the other elements are 0.
  template <index_t... Is>
  TILEWRIGHT_HD constexpr array<index_t, num_access> offsets(sequence<Is...>) const {
    array<index_t, num_access> result{};
    ((result.elements[Is] = offset<Is>()), ...);
    return result;
  }

  /// Index of access number Access in the tensor. Takes dim_sequence{}.
  template <index_t Access, index_t... Ds>
  TILEWRIGHT_HD constexpr multi_index<ndim> index_of_access(sequence<Ds...>) const {
    const multi_index<ndim>& own = thread_index[constant(accesses::list.lane[Access])];
    return {{(origin[Ds] + own[Ds] + constant(accesses::list.x[Access][Ds]))...}};
  }
};

/// What load_tile, store_tile and async_load_tile need of a window: the accesses of the calling thread.
template <class T>
concept TileWindow = TileDistribution<typename T::distribution_type> && requires(const T window) {
  typename T::vector_type;
  T::num_access + T::vector_length + T::register_step + T::accesses::list.first_register[0];
  window.view.buffer;
  window.offsets(typename T::access_sequence{});
};

namespace detail {

/// One length of a window and of its distribution's tile: compilers print both.
template <index_t Length, index_t LengthOfTile>
TILEWRIGHT_HD constexpr void require_length_of_tile() {
  static_assert(Length == LengthOfTile, "tile_window: the lengths are not those of the tile distribution");
}

template <class Distribution, class... Lengths>
inline constexpr bool are_lengths_of_tile_v = false;
template <class Distribution, auto... Lengths>
  requires(sizeof...(Lengths) == Distribution::ndim_x)
inline constexpr bool are_lengths_of_tile_v<Distribution, number<Lengths>...> =
    array<index_t, sizeof...(Lengths)>{{Lengths...}} == Distribution::x_lengths;

/// Refuses lengths that are not those of the distribution's tile.
template <class Distribution, class... Lengths>
TILEWRIGHT_HD constexpr void require_lengths_of_tile() {
  if constexpr (!are_lengths_of_tile_v<Distribution, Lengths...>) {
    constexpr bool are_known = (is_number_v<Lengths> && ...);
    static_assert(
        are_known,
        "tile_window: the lengths are those of the distribution's tile, which the compiler knows: give them as "
        "number<N>{}s; only the tensor's may be integers");
    if constexpr (are_known && sizeof...(Lengths) == Distribution::ndim_x) {
      [&]<index_t... Ds>(sequence<Ds...>) TILEWRIGHT_INLINE_LAMBDA {
        (require_length_of_tile<Lengths::value, Distribution::x_lengths[Ds]>(), ...);
      }(make_sequence<Distribution::ndim_x>{});
    }
  }
}

/// One element of a window, whose accesses move Length of them: compilers print both.
template <index_t Length, index_t Elements>
TILEWRIGHT_HD constexpr void require_vector_length() {
  static_assert(Length >= Elements,
                "require_vector: the window moves fewer elements at once; guarantee them to the descriptor "
                "(number<8>{}), let lengths and strides be multiples of them, and give them to the distribution's y");
}

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
  complete_window(window);
}

}  // namespace detail

/// Refuses, at compile time, a window whose accesses move fewer than Elements elements at once.
template <index_t Elements, class Window>
TILEWRIGHT_HD constexpr void require_vector(const Window&) {
  detail::require_vector_length<Window::vector_length, Elements>();
}

/// The window of the given lengths whose first element is at `origin`. Lengths are number<N>{}s and must be those of
/// the distribution. The origin is the same for all threads of a block; vectors need it to be a multiple of the vector
/// length in their dimension, and swizzled views need it to be a multiple of the window's lengths: the CPU emulator
/// checks both. The thread accesses the elements of partition index `p`, by default its own.
template <class View, class... Lengths, TileDistribution Distribution>
TILEWRIGHT_HD constexpr auto make_tile_window(
    const View& view, const tuple<Lengths...>&, const multi_index<sizeof...(Lengths)>& origin, Distribution,
    const multi_index<Distribution::ndim_p>& p = detail::partition_index<Distribution::ndim_p>()) {
  using window_type = tile_window<View, Distribution>;
  constexpr bool num_lengths_match = window_type::ndim == index_t(sizeof...(Lengths));
  static_assert(num_lengths_match, "make_tile_window: one length is needed for each dimension of the view");
  detail::require_lengths_of_tile<Distribution, Lengths...>();
  if constexpr (TILEWRIGHT_CPU_PASS) detail::expect_partition<Distribution>(p);
  window_type window{view, origin, {{Distribution::calculate_index(p)}}, {}};
  detail::complete_window(window);
  return window;
}

/// Refuses an origin of another number of dimensions, with an error message.
template <class View, class... Lengths, index_t N, TileDistribution Distribution>
  requires(N != index_t(sizeof...(Lengths)))
TILEWRIGHT_HD constexpr auto make_tile_window(const View& view, const tuple<Lengths...>& lengths,
                                              const array<index_t, N>&, Distribution distribution) {
  static_assert(N == index_t(sizeof...(Lengths)), "make_tile_window: the origin needs one entry for each dimension");
  return make_tile_window(view, lengths, multi_index<sizeof...(Lengths)>{}, distribution);
}

/// A window whose origin is known at compile time, make_tuple(number<M>{}, number<K>{}): the compiler checks it.
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

/// Moves the window by `step` elements along each dimension, the same in all threads of a block. The new origin has to
/// meet what make_tile_window says of origins.
template <class View, class Distribution, detail::lane_permutation Permutation>
TILEWRIGHT_HD constexpr void move_tile_window(tile_window<View, Distribution, Permutation>& window,
                                              const multi_index<View::descriptor_type::ndim>& step) {
  unroll<View::descriptor_type::ndim>([&](auto d) { window.origin[d] += step[d]; });
  if constexpr (TILEWRIGHT_CPU_PASS) detail::expect_allowed_origin(window);
  detail::move_addresses(window, step);
}

/// Moves the window so that its first element is at `origin`.
template <class View, class Distribution, detail::lane_permutation Permutation>
TILEWRIGHT_HD constexpr void set_window_origin(tile_window<View, Distribution, Permutation>& window,
                                               const multi_index<View::descriptor_type::ndim>& origin) {
  multi_index<View::descriptor_type::ndim> step = origin;
  unroll<View::descriptor_type::ndim>([&](auto d) { step[d] -= window.origin[d]; });
  move_tile_window(window, step);
}

/// The window of `view` at the origin of `old`, a window of another tensor.
template <class View, class OldView, class Distribution>
TILEWRIGHT_HD constexpr auto replace_bottom_tensor_view(const View& view,
                                                        const tile_window<OldView, Distribution>& old) {
  constexpr bool has_same_dimensions = View::descriptor_type::ndim == tile_window<OldView, Distribution>::ndim;
  static_assert(has_same_dimensions, "replace_bottom_tensor_view: the new tensor has another number of dimensions");
  using window_type = tile_window<View, Distribution>;
  window_type window{view, old.origin, old.thread_index, {}};
  detail::complete_window(window);
  return window;
}

/// A window that belongs to no threads yet: a view, an origin and lengths. make_tile_window(window, distribution) makes
/// one that can be loaded.
template <class View, class... Lengths>
struct tile_window_with_static_lengths {
  using view_type = View;
  static constexpr index_t ndim = View::descriptor_type::ndim;                    ///< dimensions
  static constexpr bool num_lengths_match = ndim == index_t(sizeof...(Lengths));  ///< one length for each dimension
  static_assert(num_lengths_match, "make_tile_window: one length is needed for each dimension of the view");

  View view;                 ///< of the tensor
  multi_index<ndim> origin;  ///< Index in the tensor of the window's first element.

  /// Index in the tensor of the window's first element.
  TILEWRIGHT_HD constexpr const multi_index<ndim>& get_window_origin() const { return origin; }
  /// Elements along each dimension.
  TILEWRIGHT_HD static constexpr multi_index<ndim> get_window_lengths() { return {{Lengths::value...}}; }
  /// The view that it is a window of.
  TILEWRIGHT_HD constexpr const View& get_bottom_tensor_view() const { return view; }
};

/// A window without a distribution.
template <class View, class... Lengths>
TILEWRIGHT_HD constexpr auto make_tile_window(const View& view, const tuple<Lengths...>&,
                                              const multi_index<sizeof...(Lengths)>& origin) {
  return tile_window_with_static_lengths<View, Lengths...>{view, origin};
}

/// The window of these lengths and this origin, for the threads of a distribution.
template <class View, class... Lengths, TileDistribution Distribution>
TILEWRIGHT_HD constexpr auto make_tile_window(const tile_window_with_static_lengths<View, Lengths...>& window,
                                              Distribution distribution) {
  return make_tile_window(window.view, tuple<Lengths...>{}, window.origin, distribution);
}

/// Moves a window without a distribution by `step` elements along each dimension.
template <class View, class... Lengths>
TILEWRIGHT_HD constexpr void move_tile_window(tile_window_with_static_lengths<View, Lengths...>& window,
                                              const multi_index<sizeof...(Lengths)>& step) {
  for (index_t d = 0; d < index_t(sizeof...(Lengths)); ++d) window.origin[d] += step[d];
}

}  // namespace tilewright
