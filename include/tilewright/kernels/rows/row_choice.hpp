// SPDX-License-Identifier: MIT
// The tile of a kernel on rows for their length and alignment: what launch_rows and tilewright::jit choose.
#pragma once

#include <tilewright/block/rows/row_tile.hpp>
#include <tilewright/core/arch/arch.hpp>
#include <tilewright/launch/check_rows.hpp>

namespace tilewright {

/// What a kernel on rows wants of its tiles.
struct row_limits {
  index_t most_threads = 512;  ///< of a row that fits in registers and LDS
  index_t most_vectors = 6;    ///< of a thread, for unaligned rows
};

/// Those of a kernel: its most_threads and most_vectors, where it has them.
template <class Kernel>
constexpr row_limits row_limits_of() {
  row_limits limits;
  if constexpr (requires { Kernel::most_threads; }) limits.most_threads = Kernel::most_threads;
  if constexpr (requires { Kernel::most_vectors; }) limits.most_vectors = Kernel::most_vectors;
  return limits;
}

/// Lengths of rows, in elements, that have a tile each. Longer rows take the last one.
inline constexpr index_t row_lengths[] = {1024, 1536, 2048, 4096, 5120, 6144, 8192, 32768, 51200, 131072};

/// The tile for rows of up to `length` elements.
TILEWRIGHT_HD constexpr row_tile tile_of_length(const arch::target& on, index_t element_bytes, index_t length,
                                                bool is_aligned, const row_limits& limits) {
  if (!is_aligned) return choose_unaligned_tile(on, element_bytes, length, limits.most_vectors);
  return choose_row_tile(on, element_bytes, length, length > 65536 / element_bytes ? 512 : limits.most_threads);
}

/// The tile for rows of `cols` elements: that of the shortest of some lengths, in ascending order, which is not
/// shorter, or that of the last one.
template <index_t N>
constexpr row_tile choose_tile_of(const index_t (&lengths)[N], const arch::target& on, index_t element_bytes,
                                  index_t cols, bool is_aligned, const row_limits& limits) {
  row_tile tile;
  for (const index_t length : lengths) {
    tile = tile_of_length(on, element_bytes, length, is_aligned, limits);
    if (cols <= tile.most_cols()) break;
  }
  return tile;
}

/// Whether rows are aligned as vectors want it, by the kernel's check(). Where they are not, a tile for unaligned rows
/// takes them. The check is made for a tile of one row for each block, which no stride is too large for.
template <class Kernel>
bool has_aligned_rows(const auto& args, index_t element_bytes) {
  const char* const why = Kernel::check(args, choose_row_tile(Kernel::arch::value, element_bytes, 16384, 512));
  return !why || !arch::is_same_name(why, detail::needs_vectors);
}

}  // namespace tilewright
