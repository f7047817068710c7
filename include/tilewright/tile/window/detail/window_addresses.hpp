// SPDX-License-Identifier: MIT
// The addresses that a tile window keeps: computed when it is made, updated when it moves.
#pragma once

#include <tilewright/tile/window/detail/window_bounds.hpp>

namespace tilewright::detail {

/// Moves the buffer's first byte by `step` along each dimension of a linear view and by `elements` more, with 64-bit
/// arithmetic.
template <class Window, index_t... Ds>
TILEWRIGHT_HD constexpr void advance_buffer(Window& window, const multi_index<Window::ndim>& step,
                                            long_index_t elements, sequence<Ds...>) {
  if constexpr (((step_along(Window::graph, Ds).slots.size() <= 1) && ...)) {
    const index_t* values = window.view.descriptor.values.data();
    ((elements += long_index_t(step[Ds]) * scaled(constant(step_along(Window::graph, Ds).factor),
                                                  constant(step_along(Window::graph, Ds).only_slot()), values)),
     ...);
  } else {
    ((elements += long_index_t(step[Ds]) * linear_stride<Ds>(window.view.descriptor)), ...);
  }
  if constexpr (Window::view_type::address_space == address_space_enum::global) {
    window.view.buffer = exec::advance(window.view.buffer, elements * Window::element_bytes);
  } else {
    window.view.buffer = window.view.buffer + index_t(elements) * Window::element_bytes;
  }
}

/// Byte offset of an element offset; it wraps outside of the tensor.
TILEWRIGHT_HD constexpr index_t bytes_of(index_t elements, index_t element_bytes) {
  return index_t(unsigned(elements) * unsigned(element_bytes));
}

/// Rule `independent`: the offset of the index of each access. `own`: the lanes' indices in the tensor.
template <class Window, index_t... Ds>
TILEWRIGHT_HD constexpr void compute_each(Window& window,
                                          const array<multi_index<Window::ndim>, Window::num_lanes>& own,
                                          sequence<Ds...>) {
  using accesses = typename Window::accesses;
  unroll<Window::num_bases>([&](auto b) {
    const multi_index<Window::ndim>& first = own[constant(accesses::list.lane_of_base[b.value])];
    const multi_index<Window::ndim> index{{(first[Ds] + constant(accesses::list.x[b.value][Ds]))...}};
    window.base[b] = bytes_of(window.view.descriptor.calculate_offset(index), Window::element_bytes);
  });
}

/// Rule `constant_steps`: the offset of each lane, of which a thread makes the accesses.
template <class Window, index_t... Bs>
TILEWRIGHT_HD constexpr void compute_of_lanes(Window& window, const index_t (&of_lane)[Window::num_lanes],
                                              sequence<Bs...>) {
  ((window.base.elements[Bs] =
        bytes_of(of_lane[constant(Window::accesses::list.lane_of_base[Bs])], Window::element_bytes)),
   ...);
}

/// Rule `uniform_steps`: adds to each address the distance of its access along dimension D, a stride that only the view
/// knows times a constant.
template <index_t D, class Window, index_t... Bs>
TILEWRIGHT_HD constexpr void add_uniform_steps(Window& window, sequence<Bs...>) {
  const unsigned stride = unsigned(linear_stride<D>(window.view.descriptor)) * unsigned(Window::element_bytes);
  ((window.base.elements[Bs] =
        index_t(unsigned(window.base.elements[Bs]) + unsigned(constant(Window::accesses::list.x[Bs][D])) * stride)),
   ...);
}

/// Rule `xor_groups`: the offset of a lane with the bits flipped in which the group differs from the first one.
template <class Window, index_t... Bs>
TILEWRIGHT_HD constexpr void compute_by_xor(Window& window, const index_t (&of_lane)[Window::num_lanes],
                                            sequence<Bs...>) {
  ((window.base.elements[Bs] = bytes_of(
        of_lane[constant(Window::accesses::list.lane_of_base[Bs])] ^ constant(Window::accesses::list.flipped_bits[Bs]),
        Window::element_bytes)),
   ...);
}

/// Fills the window's addresses by the rule of its access list. With a linear view the origin and the constant term are
/// in the buffer's first byte: what is left grows with the index, so that an offset below zero is never inside.
template <class Window, index_t... Bs, index_t... Ds>
TILEWRIGHT_HD constexpr void compute_bases(Window& window, sequence<Bs...> bases, sequence<Ds...> dims) {
#if TILEWRIGHT_CPU_PASS
  expect_near(window);
#endif
  const auto& descriptor = window.view.descriptor;
  auto own = window.thread_index;
  if constexpr (!Window::is_linear_view) {
    ((own[0][Ds] += window.origin[Ds]), ...);
    for (index_t i = 1; i < Window::num_lanes; ++i) ((own[i][Ds] += window.origin[Ds]), ...);
  }
  if constexpr (Window::rule == address_rule::independent) {
    compute_each(window, own, dims);
  } else {
    index_t of_lane[Window::num_lanes] = {descriptor.calculate_offset(own[0])};
    for (index_t i = 1; i < Window::num_lanes; ++i) of_lane[i] = descriptor.calculate_offset(own[i]);
    if constexpr (Window::is_linear_view && has_constant_term(Window::graph)) {
      for (index_t& offset : of_lane) offset = without_constant_term(descriptor, offset);
    }
    if constexpr (Window::rule == address_rule::xor_groups) {
      compute_by_xor(window, of_lane, bases);
    } else {
      compute_of_lanes(window, of_lane, bases);
    }
    if constexpr (Window::rule == address_rule::uniform_steps) (add_uniform_steps<Ds>(window, bases), ...);
  }
}

/// Completes a window whose view is still the tensor's: checks its origin, moves the buffer of a linear view there, and
/// computes the addresses.
template <class Window>
TILEWRIGHT_HD constexpr void complete_window(Window& window) {
  if constexpr (TILEWRIGHT_CPU_PASS) expect_allowed_origin(window);
  if constexpr (Window::is_linear_view) {
    long_index_t elements = 0;
    if constexpr (has_constant_term(Window::graph)) elements = constant_term(window.view.descriptor);
    advance_buffer(window, window.origin, elements, typename Window::dim_sequence{});
  }
  compute_bases(window, typename Window::base_sequence{}, typename Window::dim_sequence{});
}

/// Moves the addresses of a window whose origin has moved by `step`: the buffer of a linear view, else all of them.
template <class Window>
TILEWRIGHT_HD constexpr void move_addresses(Window& window, const multi_index<Window::ndim>& step) {
  if constexpr (Window::is_linear_view) {
    advance_buffer(window, step, 0, typename Window::dim_sequence{});
  } else {
    compute_bases(window, typename Window::base_sequence{}, typename Window::dim_sequence{});
  }
}

}  // namespace tilewright::detail
