// SPDX-License-Identifier: MIT
// Where a window may lie: what the addresses of its vectors and of swizzled views allow.
#pragma once

#include <tilewright/distribution/access_plan.hpp>
#include <tilewright/exec/expect.hpp>
#include <tilewright/util/functional.hpp>

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
  unroll<Window::ndim>([&](auto d) TILEWRIGHT_INLINE_LAMBDA {
    constexpr index_t length = Window::distribution_type::x_lengths[d];
    whole = whole && origin[d] % length == 0;
  });
  return whole || Window::rule != address_rule::xor_groups;
}

#if TILEWRIGHT_CPU_PASS
/// Distance in bytes from a window's first element to its last one inside of the tensor, where offsets grow with the
/// index. Along a dimension whose indices come from a table nothing is known here.
template <class Window>
constexpr long_index_t reach_of(const Window& window) {
  long_index_t elements = 0;
  unroll<Window::ndim>([&](auto d) {
    multi_index<Window::ndim> unit{};
    unit[d] = 1;
    const auto& descriptor = window.view.descriptor;
    const index_t rows =
        min(index_t(Window::distribution_type::x_lengths[d]), index_t(descriptor.template get_length<d.value>()));
    bool counts = true;
    if constexpr (requires { Window::gathered; }) counts = d.value != Window::gathered;
    if (counts)
      elements +=
          long_index_t(max(rows, 1) - 1) * (descriptor.calculate_offset(unit) - descriptor.calculate_offset({}));
  });
  return elements * Window::element_bytes;
}
#endif

/// On the CPU, refuses an origin that the window's addresses do not allow, and a tile that they cannot span.
template <class Window>
TILEWRIGHT_HD constexpr void expect_allowed_origin(const Window& window) {
#if TILEWRIGHT_CPU_PASS
  if constexpr (Window::is_linear_view)
    exec::expect(reach_of(window) <= 0x7fffffff,
                 "tile_window: the tile's last element lies 2^31 bytes or more behind its first; give it fewer rows, "
                 "or gather them");
#endif
  exec::expect(
      origin_has_whole_tiles<Window>(window.origin),
      "tile_window: the view is swizzled, so the origin must be a multiple of the window's lengths in each dimension");
  exec::expect(origin_has_whole_vectors<Window>(window.origin),
               "tile_window: the origin must be a multiple of the vector's length along the vectors; promise shorter "
               "ones to the descriptor");
}

}  // namespace tilewright::detail
