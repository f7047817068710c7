// SPDX-License-Identifier: MIT
// The swizzled layouts that NVIDIA's bulk copies write and wgmma reads: Swizzle<3,4,3>
// and Swizzle<2,4,3> of byte addresses.
#pragma once

#include <tilewright/lds/swizzled_layout.hpp>
#include <tilewright/util/math.hpp>

namespace tilewright {

/// The hardware's swizzle of a byte address, for rows of 128 or 64 bytes: bits 4 to 6 (4 and 5) ^= bits 7 to 9 (7 and
/// 8). PTX ISA, "Swizzling modes"; the tensor begins at a multiple of 1024 bytes.
TILEWRIGHT_HD constexpr index_t bulk_swizzled_address(index_t row_bytes, index_t address) {
  return address ^ (address >> 3 & (row_bytes == 128 ? 0x70 : 0x30));
}

/// The layout of a box in LDS whose rows are 128 or 64 bytes long. Any number of rows up to 4096;
/// the layout's own number is the next power of two.
TILEWRIGHT_HD constexpr swizzled_layout bulk_swizzle(index_t rows, index_t row_bytes, index_t element_bytes) {
  swizzled_layout l;
  l.tile = {1 << log2_floor(2 * rows - 1), row_bytes / element_bytes, element_bytes};
  l.layer = 128 / row_bytes;
  const index_t swizzle_bits = row_bytes == 128 ? 3 : 2;
  for (index_t bit = 0; 1 << bit < l.tile.rows / l.layer; ++bit) l.flips.push_back(bit < swizzle_bits ? 1 << bit : 0);
  return l;
}

/// Whether a layout puts every byte where a bulk copy of the box puts it.
TILEWRIGHT_HD constexpr bool is_bulk_swizzle(const swizzled_layout& l) {
  const index_t row_bytes = l.tile.cols * l.tile.element_bytes;
  if (row_bytes != 128 && row_bytes != 64) return false;
  for (index_t row = 0; row < l.tile.rows; ++row) {
    for (index_t byte = 0; byte < row_bytes; byte += l.chunk_bytes) {
      if (l.address(row, byte) != bulk_swizzled_address(row_bytes, row * row_bytes + byte)) return false;
    }
  }
  return true;
}

}  // namespace tilewright
