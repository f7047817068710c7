// SPDX-License-Identifier: MIT
// A tile-sized window into a tensor: where it lies, and the addresses at which the calling thread accesses its part.
#pragma once

#include <tilewright/distribution/access_plan.hpp>
#include <tilewright/tile/tensor_view.hpp>

namespace tilewright {

/// The calling thread's partition index: {wave, lane}, or {lane} for the tile of one wave.
template <TileDistribution Distribution>
TILEWRIGHT_HD multi_index<Distribution::ndim_p> get_partition_index() {
  if constexpr (Distribution::ndim_p == 1) {
    return {{exec::lane_id()}};
  } else {
    return {{exec::wave_id(), exec::lane_id()}};
  }
}

/// Made by make_tile_window. Addresses are computed there once; what is known to differ by constants shares a register, and
/// moving along dimensions whose stride does not depend on the position only moves the buffer's begin.
template <class View, TileDistribution Distribution>
struct tile_window {
  using view_type = View;
  using distribution_type = Distribution;
  using element_type = typename View::element_type;
  using descriptor_type = typename View::descriptor_type;
  static constexpr index_t ndim = descriptor_type::ndim;
  static constexpr tensor_graph graph = descriptor_type::graph;
  static constexpr index_t element_bytes = sizeof(element_type);
  static constexpr bool is_linear_view = is_linear(graph);
  using accesses = access_plan<graph, Distribution::encoding, element_bytes>;
  static constexpr address_rule rule = accesses::list.rule;
  static constexpr index_t num_access = accesses::list.base.size();
  static constexpr index_t num_bases = accesses::list.num_bases;
  static constexpr index_t vector_length = accesses::list.vector.length;
  static constexpr index_t vector_dim_y = accesses::list.vector.dim_y;
  using vector_type = vector_t<element_type, vector_length>;

  View view;
  multi_index<ndim> origin;        // of the window in the tensor
  multi_index<ndim> thread_index;  // of this thread in the window
  array<index_t, num_bases> base;  // byte offsets from the buffer's begin

  /// Position of access I along dimension D of the window, less the thread's own position.
  template <index_t I, index_t D>
  static constexpr index_t access_position = accesses::list.x[I][D];

  /// First register of access I, and the distance between the registers of its elements.
  template <index_t I>
  static constexpr index_t first_register = accesses::list.first_register[I];
  static constexpr index_t register_step = Distribution::calculate_y_strides()[vector_dim_y];

  /// The address that access I starts from, and its constant distance from there.
  template <index_t I>
  static constexpr index_t base_of = accesses::list.base[I];
  template <index_t I>
  static constexpr index_t immediate_bytes = accesses::list.immediate[I] * element_bytes;
  template <index_t B>
  static constexpr index_t flipped_bits = accesses::list.flipped_bits[B];

  /// Byte offset of access I from the buffer's begin.
  template <index_t I>
  TILEWRIGHT_HD constexpr index_t offset() const {
    return base[base_of<I>] + immediate_bytes<I>;
  }

  /// Whether access I lies inside of the tensor; dimensions listed in Known are taken to be inside.
  template <index_t I, index_t... Known>
  TILEWRIGHT_HD constexpr bool is_inside() const {
    bool inside = true;
    unroll<ndim>([&](auto d) TILEWRIGHT_INLINE_LAMBDA {
      if constexpr (((d.value != Known) && ...)) {
        constexpr index_t step = access_position<I, d.value>;
        const index_t length = view.descriptor.template get_length<d.value>();
        inside = inside && unsigned(origin[d] + thread_index[d] + step) < unsigned(length);
      }
    });
    if constexpr (descriptor_type::has_pads()) {
      multi_index<ndim> index{};
      unroll<ndim>([&](auto d) TILEWRIGHT_INLINE_LAMBDA { index[d] = origin[d] + thread_index[d] + access_position<I, d.value>; });
      inside = inside && view.descriptor.is_valid(index);
    }
    return inside;
  }
};

namespace detail {

/// Distance in elements for one step along dimension D of a linear descriptor.
template <index_t D, class Descriptor>
TILEWRIGHT_HD constexpr index_t linear_stride(const Descriptor& descriptor) {
  multi_index<Descriptor::ndim> unit{};
  unit[D] = 1;
  return descriptor.calculate_offset(unit) - descriptor.calculate_offset({});
}

/// Offset of index zero: not zero below left pads, offsets and frozen dimensions.
template <class Descriptor>
TILEWRIGHT_HD constexpr index_t constant_term(const Descriptor& descriptor) {
  if constexpr (has_constant_term(Descriptor::graph)) {
    return descriptor.calculate_offset({});
  } else {
    return 0;
  }
}

/// Moves the buffer's begin by a position and some more elements, with 64-bit arithmetic.
template <class Window>
TILEWRIGHT_HD constexpr void advance_buffer(Window& window, const multi_index<Window::ndim>& step, long_index_t elements = 0) {
  unroll<Window::ndim>([&](auto d) TILEWRIGHT_INLINE_LAMBDA { elements += long_index_t(step[d]) * linear_stride<d.value>(window.view.descriptor); });
  if constexpr (Window::view_type::address_space == address_space_enum::global) {
    window.view.buffer = exec::advance(window.view.buffer, elements * Window::element_bytes);
  } else {
    window.view.buffer = window.view.buffer + index_t(elements) * Window::element_bytes;
  }
}

/// Distance in elements from the first to access I, where each dimension has a stride; 0 with constant steps.
template <class Window, index_t I>
TILEWRIGHT_HD constexpr index_t distance(const multi_index<Window::ndim>& stride) {
  if constexpr (Window::rule == address_rule::constant_steps) return 0;
  return [&]<index_t... Ds>(std::integer_sequence<index_t, Ds...>) TILEWRIGHT_INLINE_LAMBDA {
    return ((Window::template access_position<I, Ds> * stride[Ds]) + ...);
  }(std::make_integer_sequence<index_t, Window::ndim>{});
}

/// Fills the window's addresses. With a linear view the origin and the constant term are already part of the buffer: what is left
/// grows with the index, so that an offset below zero is never inside.
template <class Window>
TILEWRIGHT_HD constexpr void compute_bases(Window& window) {
  constexpr address_rule rule = Window::rule;
  constexpr index_t ndim = Window::ndim;
  const auto& descriptor = window.view.descriptor;
  multi_index<ndim> first = window.thread_index;
  if constexpr (!Window::is_linear_view) {
    unroll<ndim>([&](auto d) TILEWRIGHT_INLINE_LAMBDA { first[d] += window.origin[d]; });
  }
  if constexpr (rule == address_rule::independent) {
    unroll<Window::num_bases>([&](auto b) TILEWRIGHT_INLINE_LAMBDA {
      multi_index<ndim> index = first;
      unroll<ndim>([&](auto d) TILEWRIGHT_INLINE_LAMBDA { index[d] += Window::template access_position<b.value, d.value>; });
      window.base[b] = descriptor.calculate_offset(index) * Window::element_bytes;
    });
    return;
  }
  index_t offset = descriptor.calculate_offset(first);
  if constexpr (Window::is_linear_view) offset -= constant_term(descriptor);
  multi_index<ndim> stride{};
  if constexpr (rule == address_rule::uniform_steps) {
    unroll<ndim>([&](auto d) TILEWRIGHT_INLINE_LAMBDA { stride[d] = linear_stride<d.value>(descriptor); });
  }
  [&]<index_t... Bs>(std::integer_sequence<index_t, Bs...>) TILEWRIGHT_INLINE_LAMBDA {
    if constexpr (rule == address_rule::xor_groups) {
      ((window.base[Bs] = (offset ^ Window::template flipped_bits<Bs>) * Window::element_bytes), ...);
    } else {
      ((window.base[Bs] = (offset + distance<Window, Bs>(stride)) * Window::element_bytes), ...);
    }
  }(std::make_integer_sequence<index_t, Window::num_bases>{});
}

}  // namespace detail

/// The window of the given lengths whose first element is at `origin`. Lengths are number<N>{}s and must be those of the
/// distribution. The origin is the same for all threads of a block; vectors need it to be a multiple of the vector length in
/// their dimension, and swizzled views need it to be a multiple of the window's lengths.
template <class View, class... Lengths, TileDistribution Distribution>
TILEWRIGHT_HD constexpr auto make_tile_window(const View& view, const tuple<Lengths...>&,
                                              const multi_index<sizeof...(Lengths)>& origin, Distribution) {
  using window_type = tile_window<View, Distribution>;
  static_assert(window_type::ndim == index_t(sizeof...(Lengths)), "make_tile_window: one length is needed for each dimension of the view");
  static_assert(array<index_t, sizeof...(Lengths)>{{Lengths::value...}} == Distribution::x_lengths,
                "make_tile_window: the lengths are not those of the tile distribution");
  window_type window{view, origin, Distribution::calculate_index(get_partition_index<Distribution>()), {}};
  if constexpr (window_type::is_linear_view) detail::advance_buffer(window, origin, detail::constant_term(view.descriptor));
  detail::compute_bases(window);
  return window;
}

/// Moves the window by a number of elements along each dimension.
template <class View, class Distribution>
TILEWRIGHT_HD constexpr void move_tile_window(tile_window<View, Distribution>& window,
                                              const multi_index<tile_window<View, Distribution>::ndim>& step) {
  using window_type = tile_window<View, Distribution>;
  unroll<window_type::ndim>([&](auto d) TILEWRIGHT_INLINE_LAMBDA { window.origin[d] += step[d]; });
  if constexpr (window_type::is_linear_view) {
    detail::advance_buffer(window, step);
  } else {
    detail::compute_bases(window);
  }
}

}  // namespace tilewright
