// SPDX-License-Identifier: MIT
// The addresses that a tile window keeps: computed when it is made, updated when it moves.
#pragma once

#include <tilewright/tile/window/detail/window_bounds.hpp>

namespace tilewright::detail {

/// Moves the buffer's first byte by a position and some more elements, with 64-bit arithmetic. Along a gathered
/// dimension the table says where elements are.
template <class Window, index_t... Ds>
TILEWRIGHT_HD constexpr void advance_buffer(Window& window, const multi_index<Window::ndim>& step,
                                            long_index_t elements, sequence<Ds...>) {
  if constexpr (((step_along(Window::graph, Ds).slots.size() <= 1) && ...)) {
    const index_t* values = window.view.descriptor.values.data();
    ((elements += Ds == Window::gathered
                      ? 0
                      : long_index_t(step[Ds]) * scaled(constant(step_along(Window::graph, Ds).factor),
                                                        constant(step_along(Window::graph, Ds).only_slot()), values)),
     ...);
  } else {
    ((elements += Ds == Window::gathered ? 0 : long_index_t(step[Ds]) * linear_stride<Ds>(window.view.descriptor)),
     ...);
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

/// Adds to each address how far the position of its access moves it along dimension D of a linear view.
template <index_t D, class Window, index_t... Bs>
TILEWRIGHT_HD constexpr void add_steps(Window& window, sequence<Bs...>) {
  const unsigned stride = unsigned(linear_stride<D>(window.view.descriptor)) * unsigned(Window::element_bytes);
  ((window.base.elements[Bs] =
        index_t(unsigned(window.base.elements[Bs]) + unsigned(constant(Window::accesses::list.x[Bs][D])) * stride)),
   ...);
}

/// An index or a step without the gathered dimension, along which the table says where elements are.
template <class Window>
TILEWRIGHT_HD constexpr multi_index<Window::ndim> without_gathered(multi_index<Window::ndim> index) {
  if constexpr (Window::gathered >= 0) index[Window::gathered] = 0;
  return index;
}

/// One address of a window whose addresses do not follow from each other.
template <class Window>
TILEWRIGHT_HD constexpr typename Window::offset_type address_of_base(const Window& window,
                                                                     multi_index<Window::ndim> index,
                                                                     [[maybe_unused]] index_t page) {
  const auto& descriptor = window.view.descriptor;
  if constexpr (Window::gathered >= 0) index[Window::gathered] = page;
  if constexpr (Window::reaches_far && Window::is_linear_view) {
    index[Window::gathered] = 0;
    const index_t in_row = without_constant_term(descriptor, descriptor.calculate_offset(index));
    return (page * linear_stride<Window::gathered>(descriptor) + in_row) * Window::element_bytes;
  } else {
    index_t offset = descriptor.calculate_offset(index);
    if constexpr (Window::is_linear_view) offset = without_constant_term(descriptor, offset);
    if constexpr (Window::reaches_far) return static_cast<long_index_t>(offset) * Window::element_bytes;
    return bytes_of(offset, Window::element_bytes);
  }
}

#if TILEWRIGHT_CPU_PASS
/// On the CPU, refuses a grouped plan that does not hold: compares each access with its own offset.
template <class Window>
void expect_plan_holds(const Window& window) {
  const auto& descriptor = window.view.descriptor;
  const auto offsets =
      checked_offsets<in_bounds<>>(window, typename Window::access_sequence{}, typename Window::dim_sequence{});
  const multi_index<Window::ndim> origin = without_gathered<Window>(window.origin);
  unroll<Window::num_access>([&](auto i) {
    const auto index = window.template index_of_access<i.value>(typename Window::dim_sequence{});
    if (offsets[i] == exec::out_of_bounds_offset && !descriptor.is_valid(index)) return;
    long_index_t elements = 0;  // from the buffer's first byte
    if constexpr (Window::is_linear_view) {
      unroll<Window::ndim>(
          [&](auto d) { elements += (long_index_t(index[d]) - origin[d]) * linear_stride<d.value>(descriptor); });
    } else {
      elements = descriptor.calculate_offset(index);
    }
    const long_index_t offset = elements * Window::element_bytes;
    exec::expect(
        Window::reaches_far || Window::gathered < 0 || (offset >= 0 && offset + Window::element_bytes <= 0x7fffffff),
        "make_tile_scatter_gather: a row lies 2^31 bytes or more after the window's start; near_rows{} does not hold");
    exec::expect(
        offsets[i] == offset,
        "make_tile_window_linear: offsets do not grow by a constant along the dimensions that are said to be linear");
  });
}
#endif

/// Fills the window's addresses. `is_new`: its view is still the tensor's, and moves to the origin. With a linear view
/// the origin and the constant term are already part of the buffer: what is left grows with the index, so that an
/// offset below zero is never inside.
template <class Window, index_t... Bs, index_t... Ds>
TILEWRIGHT_HD constexpr void compute_bases(Window& window, bool is_new, sequence<Bs...> bases, sequence<Ds...> dims) {
  constexpr address_rule rule = Window::rule;
  constexpr index_t ndim = Window::ndim;
  if constexpr (TILEWRIGHT_CPU_PASS) {
    if (is_new) expect_allowed_origin(window);
  }
  if constexpr (Window::is_linear_view) {
    long_index_t elements = 0;
    if constexpr (has_constant_term(Window::graph)) elements = constant_term(window.view.descriptor);
    if (is_new) advance_buffer(window, window.origin, elements, dims);
  }
#if TILEWRIGHT_CPU_PASS
  expect_near(window);
#endif
  const auto& descriptor = window.view.descriptor;
  auto own = window.thread_index;
  if constexpr (!Window::is_linear_view) {
    ((own[0][Ds] += window.origin[Ds]), ...);
    for (index_t i = 1; i < Window::num_lanes; ++i) ((own[i][Ds] += window.origin[Ds]), ...);
  }
  if constexpr (rule == address_rule::independent) {
    unroll<Window::num_bases>([&](auto b) {
      using accesses = typename Window::accesses;
      const multi_index<ndim>& first = own[constant(accesses::list.lane_of_base[b.value])];
      if constexpr (Window::gathered >= 0) {
        const multi_index<ndim> index{{(first[Ds] + constant(accesses::list.base_x[b.value][Ds]))...}};
        window.base[b] = address_of_base(
            window, index, window.indices.page_idx[constant(gathered_positions_v<accesses>.of_base[b.value])]);
      } else if constexpr (accesses::plan.is_grouped) {
        const multi_index<ndim> index{{(first[Ds] + constant(accesses::list.base_x[b.value][Ds]))...}};
        window.base[b] = address_of_base(window, index, 0);
      } else {
        const multi_index<ndim> index{{(first[Ds] + constant(accesses::list.x[b.value][Ds]))...}};
        window.base[b] = bytes_of(descriptor.calculate_offset(index), Window::element_bytes);
      }
    });
#if TILEWRIGHT_CPU_PASS
    if constexpr (Window::accesses::plan.is_grouped) expect_plan_holds(window);
#endif
    return;
  }
  index_t offset[Window::num_lanes] = {descriptor.calculate_offset(own[0])};
  for (index_t i = 1; i < Window::num_lanes; ++i) offset[i] = descriptor.calculate_offset(own[i]);
  if constexpr (Window::is_linear_view && has_constant_term(Window::graph)) {
    for (index_t& o : offset) o = without_constant_term(descriptor, o);
  }
  if constexpr (rule == address_rule::xor_groups) {
    ((window.base.elements[Bs] = bytes_of(
          offset[constant(Window::accesses::list.lane_of_base[Bs])] ^ constant(Window::accesses::list.flipped_bits[Bs]),
          Window::element_bytes)),
     ...);
  } else {
    ((window.base.elements[Bs] =
          bytes_of(offset[constant(Window::accesses::list.lane_of_base[Bs])], Window::element_bytes)),
     ...);
  }
  if constexpr (rule == address_rule::uniform_steps) (add_steps<Ds>(window, bases), ...);
}

/// How far one step moves along dimension D of a view, which is said to be linear there.
template <index_t D, class Descriptor>
TILEWRIGHT_HD constexpr index_t claimed_stride(const Descriptor& descriptor) {
  if constexpr (step_along(Descriptor::graph, D).is_linear) {
    return index_t(linear_stride<D>(descriptor));
  } else {
    multi_index<Descriptor::ndim> unit{};
    unit[D] = 1;
    return descriptor.calculate_offset(unit) - descriptor.calculate_offset({});
  }
}

/// Moves a window's addresses to its origin, which has moved by `step`. With a linear view the buffer moves; else a
/// step along the plan's linear dimensions alone is an addition.
template <class Window>
TILEWRIGHT_HD constexpr void move_addresses(Window& window, const multi_index<Window::ndim>& step) {
  constexpr address_plan plan = Window::accesses::plan;
  if constexpr (Window::is_linear_view) advance_buffer(window, step, 0, typename Window::dim_sequence{});
  if constexpr (plan.linear != 0 && !Window::is_linear_view) {
    bool only_linear = true;
    for (index_t d = 0; d < Window::ndim; ++d) only_linear = only_linear && (plan.is_linear_along(d) || step[d] == 0);
    if (only_linear) {
      index_t elements = 0;
      unroll<Window::ndim>([&](auto d) {
        if constexpr (Window::accesses::plan.is_linear_along(d.value))
          elements += step[d] * claimed_stride<d.value>(window.view.descriptor);
      });
      unroll<Window::num_bases>([&](auto b) { window.base[b] += elements * Window::element_bytes; });
#if TILEWRIGHT_CPU_PASS
      expect_near(window);
      expect_plan_holds(window);
#endif
      return;
    }
  }
  if constexpr (!Window::is_linear_view)
    compute_bases(window, false, typename Window::base_sequence{}, typename Window::dim_sequence{});
}

}  // namespace tilewright::detail
