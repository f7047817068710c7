// SPDX-License-Identifier: MIT
// How the loop over k is cut into tiles, and how it walks through global memory.
#pragma once

#include <tilewright/tile/tile_window.hpp>
#include <tilewright/util/math.hpp>

namespace tilewright {

/// Tiles along k. The first one is the one that may be partial: it begins before the tensor, so that all others are whole and the
/// loop needs no checks.
struct k_tiles {
  index_t count;
  index_t first_origin;  // <= 0
};

TILEWRIGHT_HD constexpr k_tiles split_k_into_tiles(index_t k, index_t k_per_block) {
  const index_t count = ceil_div(k, k_per_block);
  return {count, k - count * k_per_block};
}

/// Bytes that a loop walks over before it moves its windows, unless that is less than two steps.
inline constexpr index_t max_walk_bytes = 1 << 30;

/// Bytes from one tile along k to the next.
template <class Window>
TILEWRIGHT_HD index_t k_step_bytes(const Window& window) {
  return detail::linear_stride<1>(window.view.descriptor) * Window::distribution_type::x_lengths[1] *
         Window::element_bytes;
}

/// Steps that a loop takes before it moves its windows, even and at least two: a power of two, so that finding it takes no division.
template <class AWindow, class BWindow>
TILEWRIGHT_HD index_t steps_without_move(const AWindow& a, const BWindow& b) {
  const index_t bits = 32 - __builtin_clz(unsigned(max(k_step_bytes(a), k_step_bytes(b))));
  return max(max_walk_bytes >> bits, 2);
}

}  // namespace tilewright
