// SPDX-License-Identifier: MIT
// Where a window's accesses are in memory: the addresses that it keeps, and offsets from there.
#pragma once

#include <tilewright/tile/window_origin.hpp>

namespace tilewright {

namespace detail {

/// Byte offsets of accesses Is from the buffer's begin; in global memory out_of_bounds_offset for those outside of the
/// tensor. Dimensions listed in Known are taken to be inside.
template <class Known, class Window, index_t... Is, index_t... Ds>
TILEWRIGHT_HD constexpr auto checked_offsets(const Window& window, sequence<Is...> accesses, sequence<Ds...> dims) {
  auto result = window.offsets(accesses);
  constexpr bool all_known = (Known::template contains<Ds> && ...) && !Window::descriptor_type::has_pads();
  if constexpr (Window::view_type::address_space == address_space_enum::lds || all_known) return result;
  array<bool, Window::num_access> inside;
  ((inside.elements[Is] = true), ...);
  ((Known::template contains<Ds> ? void() : window.template check_along<Ds>(inside, accesses)), ...);
  if constexpr (Window::descriptor_type::has_pads()) {
    ((inside.elements[Is] =
          inside.elements[Is] && window.view.descriptor.is_valid(window.template index_of_access<Is>(dims))),
     ...);
  }
  ((result.elements[Is] = inside.elements[Is] ? result.elements[Is] : exec::out_of_bounds_offset), ...);
  return result;
}

/// Moves the buffer's begin by a position and some more elements, with 64-bit arithmetic.
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
template <class Window>
TILEWRIGHT_HD constexpr void advance_buffer(Window& window, const multi_index<Window::ndim>& step,
                                            long_index_t elements = 0) {
  advance_buffer(window, step, elements, make_sequence<Window::ndim>{});
}

/// Bytes of so many elements; outside of the tensor they may be any.
TILEWRIGHT_HD constexpr index_t bytes_of(index_t elements, index_t element_bytes) {
  return index_t(unsigned(elements) * unsigned(element_bytes));
}

/// Adds to each address how far the position of its access moves it along dimension D of a linear view.
template <index_t D, class Window, index_t... Bs>
TILEWRIGHT_HD constexpr void add_steps(Window& window, sequence<Bs...>) {
  const unsigned stride = unsigned(linear_stride<D>(window.view.descriptor)) * unsigned(Window::element_bytes);
  ((window.base.elements[Bs] =
        index_t(unsigned(window.base.elements[Bs]) + unsigned(constant(Window::accesses::list.x[Bs][D])) * stride)),
   ...);
}

/// Fills the window's addresses. With a linear view the origin and the constant term are already part of the buffer:
/// what is left grows with the index, so that an offset below zero is never inside.
template <class Window, index_t... Bs, index_t... Ds>
TILEWRIGHT_HD constexpr void compute_bases(Window& window, sequence<Bs...> bases, sequence<Ds...>) {
  constexpr address_rule rule = Window::rule;
  constexpr index_t ndim = Window::ndim;
#if TILEWRIGHT_CPU_PASS
  expect_near(window);
#endif
  const auto& descriptor = window.view.descriptor;
  multi_index<ndim> first = window.thread_index;
  if constexpr (!Window::is_linear_view) ((first[Ds] += window.origin[Ds]), ...);
  if constexpr (rule == address_rule::independent) {
    unroll<Window::num_bases>([&](auto b) TILEWRIGHT_INLINE_LAMBDA {
      const multi_index<ndim> index{{(first[Ds] + constant(Window::accesses::list.x[b.value][Ds]))...}};
      window.base[b] = bytes_of(descriptor.calculate_offset(index), Window::element_bytes);
    });
    return;
  }
  index_t offset = descriptor.calculate_offset(first);
  if constexpr (Window::is_linear_view && has_constant_term(Window::graph))
    offset = without_constant_term(descriptor, offset);
  if constexpr (rule == address_rule::xor_groups) {
    ((window.base.elements[Bs] =
          bytes_of(offset ^ constant(Window::accesses::list.flipped_bits[Bs]), Window::element_bytes)),
     ...);
  } else {
    ((window.base.elements[Bs] = bytes_of(offset, Window::element_bytes)), ...);
  }
  if constexpr (rule == address_rule::uniform_steps) (add_steps<Ds>(window, bases), ...);
}
}  // namespace detail

}  // namespace tilewright
