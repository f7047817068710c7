// SPDX-License-Identifier: MIT
// What a wave does that copies rows to another GPU while the other waves of its block multiply.
#pragma once

#include <tilewright/exec/hopper.hpp>

#if TILEWRIGHT_HOPPER_PASS
namespace tilewright::parallel::detail {

/// Rows of a matrix in memory: the address of the first one, bytes from each to the next, and how many there are, of
/// `bytes` bytes each, a multiple of 16.
struct row_span {
  char* first;
  long_index_t stride;
  index_t rows, bytes;
};

/// A wave copies rows to rows `stride` bytes from each other. Width: bytes of a row that it copies at once.
template <index_t Width>
TILEWRIGHT_HD void push_rows(char* to, long_index_t stride, const row_span& from) {
  constexpr index_t lanes = Width / 16, rows_at_once = 32 / lanes, loads = 8;  // in flight
  static_assert(lanes * rows_at_once == 32, "push_rows: Width must be a power of two, at most 512 bytes");
  const index_t lane = exec::lane_id();
  for (index_t byte = modulo(lane, lanes) * 16; byte < from.bytes; byte += Width) {
    TILEWRIGHT_UNROLL(1)
    for (index_t first = divide(lane, lanes); first < from.rows; first += loads * rows_at_once) {
      array<float, 4> values[loads];
      TILEWRIGHT_UNROLL_ALL
      for (index_t i = 0; i < loads; ++i) {
        const index_t row = min(first + i * rows_at_once, from.rows - 1);
        values[i] = exec::load_from_l2(reinterpret_cast<const float*>(from.first + row * from.stride + byte));
      }
      TILEWRIGHT_UNROLL_ALL
      for (index_t i = 0; i < loads; ++i) {
        const index_t row = first + i * rows_at_once;
        if (row < from.rows) exec::store_to_l2(reinterpret_cast<float*>(to + row * stride + byte), values[i]);
      }
    }
  }
  exec::wave_sync();
}

}  // namespace tilewright::parallel::detail
#endif
