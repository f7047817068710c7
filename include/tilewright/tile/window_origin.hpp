// SPDX-License-Identifier: MIT
// Checks of a tile window's origin: whole vectors, whole tiles of swizzled views, offsets in reach.
#pragma once

#include <tilewright/exec/expect.hpp>
#include <tilewright/tile/window.hpp>

namespace tilewright::detail {

/// Dimension of the tile along which a window's vectors run.
template <class Window>
inline constexpr index_t vector_dim_x =
    Window::distribution_type::ndim_y == 0 ? 0 : Window::distribution_type::encoding.y[Window::vector_dim_y].major - 1;

/// Whether a window may be at an origin: addresses that are computed with XOR need whole tiles, vectors whole vectors.
template <class Window>
TILEWRIGHT_HD constexpr bool origin_has_whole_vectors(const multi_index<Window::ndim>& origin) {
  return Window::vector_length == 1 || origin[vector_dim_x<Window>] % Window::vector_length == 0;
}
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
/// On the CPU, refuses strides and a tile that a window of a linear view cannot have. Along a dimension whose indices
/// come from a table nothing is known here.
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
    if (d.value != Window::gathered)
      elements += (min(index_t(Window::distribution_type::x_lengths[d]), length) - 1) * stride;
  });
  exec::expect((elements + 1) * Window::element_bytes <= largest_index,  // no buffer of AMD GPUs is longer
               "tile_window: the tile's last element lies 2^31 bytes or more after its first; give it fewer rows, "
               "or gather them");
}

/// On the CPU, refuses accesses to elements that 32-bit offsets from the tensor's start do not reach; in elements where
/// a window counts bytes in 64 bits.
template <class Window>
constexpr void expect_near(const Window& window) {
  if constexpr (!Window::is_linear_view && Window::view_type::address_space == address_space_enum::global) {
    const auto& descriptor = window.view.descriptor;
    const long_index_t unit = Window::reaches_far ? 1 : Window::element_bytes;
    if (descriptor.get_element_space_size() * unit <= largest_index) return;
    unroll<Window::num_access>([&](auto i) {
      const auto index = window.template index_of_access<i.value>(typename Window::dim_sequence{});
      exec::expect(!descriptor.is_valid(index) ||
                       (descriptor.offsets_fit() && (descriptor.calculate_offset(index) + 1ll) * unit <= largest_index),
                   "tile_window: the view is not linear, and an element lies 2^31 bytes or more after the tensor's "
                   "start; make a view for each part of the tensor");
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
               "tile_window: the origin must be a multiple of the vector's length along the vectors; promise shorter "
               "ones to the descriptor");
}

}  // namespace tilewright::detail
