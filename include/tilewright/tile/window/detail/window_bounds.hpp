// SPDX-License-Identifier: MIT
// Bounds of a tile window: which origins it may have, and which accesses are inside of the tensor.
#pragma once

#include <tilewright/core/descriptor/linear_offset.hpp>
#include <tilewright/core/distribution/access_plan.hpp>
#include <tilewright/machine/exec/exec.hpp>
#include <tilewright/machine/exec/expect.hpp>
#include <tilewright/tile/window/tensor_view.hpp>

namespace tilewright::detail {

/// Dimension of the tile along which a window's vectors run.
template <class Window>
inline constexpr index_t vector_dim_x =
    Window::distribution_type::ndim_y == 0 ? 0 : Window::distribution_type::encoding.y[Window::vector_dim_y].major - 1;

/// Whether the origin is a multiple of the vector's length along the vectors.
template <class Window>
TILEWRIGHT_HD constexpr bool origin_has_whole_vectors(const multi_index<Window::ndim>& origin) {
  return Window::vector_length == 1 || origin[vector_dim_x<Window>] % Window::vector_length == 0;
}
/// Whether the origin is a multiple of the window's lengths, where addresses that are computed with XOR need that.
template <class Window>
TILEWRIGHT_HD constexpr bool origin_has_whole_tiles(const multi_index<Window::ndim>& origin) {
  bool whole = true;
  unroll<Window::ndim>([&](auto d) {
    constexpr index_t length = Window::distribution_type::x_lengths[d];
    whole = whole && origin[d] % length == 0;
  });
  return whole || Window::rule != address_rule::xor_groups;
}

#if TILEWRIGHT_CPU_PASS
/// On the CPU, refuses strides and a tile that a window of a linear view cannot have.
template <class Window>
constexpr void expect_reachable(const Window& window) {
  long_index_t elements = 0;  // from the tile's first element to its last one inside of the tensor
  unroll<Window::ndim>([&](auto d) {
    const auto& descriptor = window.view.descriptor;
    const long_index_t stride = linear_stride<d.value>(descriptor);
    const index_t length = descriptor.template get_length<d.value>();
    if (length <= 1) return;
    exec::expect(stride >= 0, "tile_window: a stride is negative; give it as number<N>{}, or begin at the other end");
    exec::expect(stride < largest_index,
                 "tile_window: a stride does not fit into 32 bits; make a view for each index of that dimension");
    elements += (min(index_t(Window::distribution_type::x_lengths[d]), length) - 1) * stride;
  });
  exec::expect((elements + 1) * Window::element_bytes <= largest_index,  // no buffer of AMD GPUs is longer
               "tile_window: the tile's last element lies 2^31 bytes or more after its first; give it fewer rows");
}

/// On the CPU, refuses accesses to elements that 32-bit offsets from the tensor's start do not reach.
template <class Window>
constexpr void expect_near(const Window& window) {
  if constexpr (!Window::is_linear_view && Window::view_type::address_space == address_space_enum::global) {
    const auto& descriptor = window.view.descriptor;
    if (descriptor.get_element_space_size() * Window::element_bytes <= largest_index) return;
    unroll<Window::num_access>([&](auto i) {
      const auto index = window.template index_of_access<i.value>(typename Window::dim_sequence{});
      exec::expect(!descriptor.is_valid(index) ||
                       (descriptor.offsets_fit() &&
                        (descriptor.calculate_offset(index) + 1ll) * Window::element_bytes <= largest_index),
                   "tile_window: the view is not linear, and an element lies 2^31 bytes or more after the tensor's "
                   "start; make a view for each segment of the tensor");
    });
  }
}
#endif

/// On the CPU, refuses an origin that the window's addresses do not allow, and a tile that they cannot span.
template <class Window>
TILEWRIGHT_HD constexpr void expect_allowed_origin([[maybe_unused]] const Window& window) {
#if TILEWRIGHT_CPU_PASS
  if constexpr (Window::is_linear_view) expect_reachable(window);
#endif
  exec::expect(
      origin_has_whole_tiles<Window>(window.origin),
      "tile_window: the view is swizzled, so the origin must be a multiple of the window's lengths in each dimension");
  exec::expect(origin_has_whole_vectors<Window>(window.origin),
               "tile_window: the origin must be a multiple of the vector's length along the vectors; guarantee shorter "
               "ones to the descriptor");
}

/// result[I] = window.offset<I>() for accesses Is; in global memory out_of_bounds_offset for those outside of the
/// tensor. Dimensions listed in Known are not checked. Es counts pairs of a dimension and an access. All checks are in
/// this function: arrays that another one fills cost the compiler far more.
template <class Known, class Window, index_t... Is, index_t... Ds, index_t... Es>
TILEWRIGHT_HD constexpr void fill_offsets(array<index_t, Window::num_access>& result, const Window& window,
                                          sequence<Is...>, sequence<Ds...> dims, sequence<Es...>) {
  constexpr bool all_known = (Known::template contains<Ds> && ...) && !Window::descriptor_type::has_pads();
  if constexpr (Window::view_type::address_space == address_space_enum::lds || all_known) {
    ((result.elements[Is] = window.template offset<Is>()), ...);
  } else {
    using accesses = typename Window::accesses;
    constexpr index_t n = sizeof...(Is), access[] = {Is...};
    unsigned first[Window::num_lanes][Window::ndim] = {
        {(unsigned(window.origin[Ds]) + unsigned(window.thread_index[0][Ds]))...}};
    for (index_t l = 1; l < Window::num_lanes; ++l)
      ((first[l][Ds] = unsigned(window.origin[Ds]) + unsigned(window.thread_index[l][Ds])), ...);
    const unsigned length[] = {unsigned(window.view.descriptor.template get_length<Ds>())...};
    array<bool, Window::num_access> inside;
    ((inside.elements[Is] = true), ...);
    ((Known::template contains<Es / n> ? void()
                                       : void(inside.elements[constant(access[Es % n])] &=
                                              first[constant(accesses::list.lane[access[Es % n]])][Es / n] +
                                                  unsigned(constant(accesses::list.x[access[Es % n]][Es / n])) <
                                              length[Es / n])),
     ...);
    if constexpr (Window::descriptor_type::has_pads()) {
      ((inside.elements[Is] =
            inside.elements[Is] && window.view.descriptor.is_valid(window.template index_of_access<Is>(dims))),
       ...);
    }
    ((result.elements[Is] = inside.elements[Is] ? window.template offset<Is>() : exec::out_of_bounds_offset), ...);
  }
}

/// Returns what fill_offsets fills in.
template <class Known, class Window, index_t... Is, index_t... Ds>
TILEWRIGHT_HD constexpr auto checked_offsets(const Window& window, sequence<Is...> accesses, sequence<Ds...> dims) {
  array<index_t, Window::num_access> result;
  fill_offsets<Known>(result, window, accesses, dims, make_sequence<sizeof...(Is) * sizeof...(Ds)>{});
  return result;
}

}  // namespace tilewright::detail
