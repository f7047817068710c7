// SPDX-License-Identifier: MIT
// How the loop over k is cut into tiles, and how it walks through global memory.
#pragma once

#include <tilewright/tile/tile_window.hpp>
#include <tilewright/util/math.hpp>

namespace tilewright {

/// Tiles along k. The first one is the one that may be partial: it begins before the tensor,
/// so that all others are whole and the loop needs no checks.
struct k_tiles {
  index_t count;
  index_t first_origin;  // <= 0
};

/// The tiles of `k_per_block` elements that k elements need; at least one if k is positive.
TILEWRIGHT_HD constexpr k_tiles tiles_along_k(index_t k, index_t k_per_block) {
  const index_t count = ceil_div(k, k_per_block);
  return {count, k - count * k_per_block};
}

/// Bytes that a loop walks over before it moves its windows, unless that is less than two steps.
inline constexpr index_t max_walk_bytes = 1 << 30;

/// Bytes from one tile along k to the next.
template <class Window>
TILEWRIGHT_HD index_t k_step_bytes(const Window& window) {
  return index_t(detail::linear_stride<1>(window.view.descriptor)) * Window::distribution_type::x_lengths[1] *
         Window::element_bytes;
}

/// Steps that a loop takes before it moves its windows, even and at least two: a power of two,
/// so that finding it takes no division.
template <class AWindow, class BWindow>
TILEWRIGHT_HD index_t steps_without_move(const AWindow& a, const BWindow& b) {
  const index_t bits = 32 - __builtin_clz(unsigned(max(k_step_bytes(a), k_step_bytes(b))));
  return max(max_walk_bytes >> bits, 2);
}

/// Calls step(number<buffer>, a_offset, b_offset) `count` times for LDS buffers in turn: one, or two, whose steps then
/// come in pairs, so that each step's addresses are constants. The windows stand at a tile that has count - 1 tiles
/// behind it; step i gets the offset, in bytes, of the tile i + Ahead behind it, or of the last one if there is none.
/// Returns the buffer that a further step would be for.
template <index_t Buffers, index_t Ahead, class AWindow, class BWindow, class Step>
TILEWRIGHT_HD index_t for_tiles(AWindow& a, BWindow& b, index_t count, const Step& step) {
  static_assert(Buffers == 1 || Buffers == 2);
  const index_t a_step = k_step_bytes(a), b_step = k_step_bytes(b), at_once = steps_without_move(a, b);
  index_t left = count;
  while (left >= Buffers) {
    const index_t rounds = min(left & -Buffers, at_once), last = min(left - 1, rounds + Ahead - 1);
    const index_t a_last = last * a_step, b_last = last * b_step;
    index_t a_offset = (Ahead - 1) * a_step, b_offset = (Ahead - 1) * b_step;
    TILEWRIGHT_UNROLL(1)
    for (index_t i = 0; i < rounds; i += Buffers) {
      unroll<Buffers>([&](auto buffer) TILEWRIGHT_INLINE_LAMBDA {
        a_offset = min(a_offset + a_step, a_last);
        b_offset = min(b_offset + b_step, b_last);
        step(buffer, a_offset, b_offset);
      });
    }
    move_tile_window(a, {0, rounds * AWindow::distribution_type::x_lengths[1]});
    move_tile_window(b, {0, rounds * BWindow::distribution_type::x_lengths[1]});
    left -= rounds;
  }
  if (Buffers > 1 && left == 1) step(number<0>{}, 0, 0);
  return left;
}

}  // namespace tilewright
