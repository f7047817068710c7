// SPDX-License-Identifier: MIT
// XOR swizzles with names, all of them values of swizzled_layout.
#pragma once

#include <tilewright/lds/swizzled_layout.hpp>
#include <tilewright/util/math.hpp>

namespace tilewright {

/// CK Tile's XOR preshuffle: bit i of a group of `layer` rows flips bit i of the chunk's number within the group.
/// Chunks are KPack elements, by default 16 bytes. Rows are at most 4 KiB.
TILEWRIGHT_HD constexpr swizzled_layout xor_preshuffle_layout(const lds_tile& tile, index_t layer,
                                                              index_t chunk_bytes = 16) {
  swizzled_layout result = swizzled_rows(tile, layer * tile.row_bytes(), {}, chunk_bytes);
  const index_t chunks = result.chunks_per_bank_row();
  for (index_t bit = 1; bit < result.num_bank_rows(); bit *= 2) result.flips.push_back(bit < chunks ? bit : 0);
  return result;
}

/// CuTe's Swizzle<B, M, S> of byte addresses: o ^ ((o & (((1 << B) - 1) << (M + S))) >> S). 2 <= M <= 4, B <= S.
TILEWRIGHT_HD constexpr swizzled_layout byte_swizzle_layout(const lds_tile& tile, index_t b, index_t m, index_t s) {
  swizzled_layout result = swizzled_rows(tile, 1 << (m + s), {}, 1 << m);
  for (index_t i = 0; i < detail::log2_floor(result.num_bank_rows()); ++i) result.flips.push_back(i < b ? 1 << i : 0);
  return result;
}

/// The layout of a box of NVIDIA's bulk copies and of wgmma's operands, with rows of 128 or 64 bytes: Swizzle<3, 4, 3>
/// or <2, 4, 3>. At most 4096 rows; the layout has the next power of two. (PTX ISA, "Swizzling modes")
TILEWRIGHT_HD constexpr swizzled_layout bulk_swizzle(index_t rows, index_t row_bytes, index_t element_bytes) {
  const lds_tile tile{1 << detail::log2_floor(2 * rows - 1), row_bytes / element_bytes, element_bytes};
  return byte_swizzle_layout(tile, row_bytes == 128 ? 3 : 2, 4, 3);
}

namespace detail {

/// The same as a function of the byte address, in a box that begins at a multiple of 1024 bytes.
TILEWRIGHT_HD constexpr index_t bulk_swizzled_address(index_t row_bytes, index_t address) {
  return address ^ (address >> 3 & (row_bytes == 128 ? 0x70 : 0x30));
}

TILEWRIGHT_HD constexpr bool is_bulk_swizzle(const swizzled_layout& l) {
  const index_t row_bytes = l.tile.row_bytes();
  return (row_bytes == 128 || row_bytes == 64) && l == bulk_swizzle(l.tile.rows, row_bytes, l.tile.element_bytes);
}

/// Whether row_xor_layout knows rows of this many bytes.
TILEWRIGHT_HD constexpr bool has_row_xor_layout(index_t row_bytes) {
  return row_bytes == 64 || row_bytes == 128 || row_bytes == 256;
}

}  // namespace detail

/// One swizzle for every target: free of conflicts for 16- and 32-row matrix instructions, ldmatrix and 16-byte writes
/// along rows of 64, 128 or 256 bytes. chunk ^= xor of the listed numbers whose bit is set in the row.
TILEWRIGHT_HD constexpr swizzled_layout row_xor_layout(const lds_tile& tile) {
  constexpr index_t of_64[] = {0, 1, 2, 0, 1}, of_128[] = {1, 4, 2, 0, 1}, of_256[] = {4, 9, 2, 0, 1};
  const index_t* spread = tile.row_bytes() == 64 ? of_64 : tile.row_bytes() == 128 ? of_128 : of_256;
  swizzled_layout result = swizzled_rows(tile, tile.row_bytes());
  for (index_t i = 0; i < detail::log2_floor(tile.rows); ++i) result.flips.push_back(i < 5 ? spread[i] : 0);
  return result;
}

}  // namespace tilewright
