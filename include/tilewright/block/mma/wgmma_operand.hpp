// SPDX-License-Identifier: MIT
// A matrix operand in LDS for Hopper's wgmma: the instruction's descriptor, computed from the operand's layout.
#pragma once

#include <tilewright/core/lds/layout_presets.hpp>

namespace tilewright {

/// A tile of `rows` (m or n) x k in LDS, as boxes with consecutive rows of 128 bytes. If k is
/// contiguous, a box is all rows x 128 bytes along k; else it is 128 bytes along the rows, with a row for each k.
struct wgmma_operand {
  static constexpr index_t row_bytes = 128;  ///< of a row of a box
  index_t rows, element_bytes;               ///< m or n; bytes of an element
  bool k_is_contiguous;                      ///< else m or n is
  index_t length_k = 0;                      ///< 0: 128 bytes
  index_t rows_in_lds = 0;                   ///< if k is contiguous: rows of a box, of which these are some; 0: these

  /// Elements of a row of a box.
  TILEWRIGHT_HD constexpr index_t box_columns() const { return row_bytes / element_bytes; }
  /// Elements along k.
  TILEWRIGHT_HD constexpr index_t k() const { return length_k == 0 ? box_columns() : length_k; }
  /// Boxes of the tile.
  TILEWRIGHT_HD constexpr index_t num_boxes() const { return ceil_div(k_is_contiguous ? k() : rows, box_columns()); }
  /// Rows of a box: m or n, or k.
  TILEWRIGHT_HD constexpr index_t box_rows() const { return k_is_contiguous ? max(rows, rows_in_lds) : k(); }
  /// Bytes of a box.
  TILEWRIGHT_HD constexpr index_t box_bytes() const { return box_rows() * row_bytes; }
  /// Bytes of the tile.
  TILEWRIGHT_HD constexpr index_t bytes() const { return num_boxes() * box_bytes(); }
  /// Where the elements of a box are in LDS.
  TILEWRIGHT_HD constexpr swizzled_layout layout() const { return tma_swizzle(box_rows(), row_bytes, element_bytes); }

  /// One instruction multiplies this many elements along k. The operand of the i-th begins this many bytes further:
  /// before the swizzle, which the hardware applies to the sum.
  TILEWRIGHT_HD constexpr index_t instruction_k() const { return 32 / element_bytes; }
  /// Offset in bytes of the i-th instruction's operand.
  TILEWRIGHT_HD constexpr index_t instruction_bytes(index_t i) const {
    if (!k_is_contiguous) return i * instruction_k() * row_bytes;
    constexpr index_t per_box = row_bytes / 32;
    return i / per_box * box_bytes() + i % per_box * 32;
  }

  /// The descriptor without its address. PTX ISA, "Matrix descriptor": bits 16-29 the stride between boxes, 32-45 the
  /// stride between groups of 8 rows of a box, both in units of 16 bytes; bits 62-63: 1 is the 128-byte swizzle.
  TILEWRIGHT_HD constexpr unsigned long long descriptor_fields() const {
    const swizzled_layout l = layout();
    const auto eight_rows = static_cast<unsigned long long>(l.address(8, 0) - l.address(0, 0)) / 16;
    const auto box = static_cast<unsigned long long>(box_bytes()) / 16;
    return 1ull << 62 | eight_rows << 32 | (k_is_contiguous ? 1 : box) << 16;
  }

  /// Whether the layout is the one that the descriptor describes.
  TILEWRIGHT_HD constexpr bool is_sound() const {
    return detail::is_tma_swizzle(layout()) && rows % 8 == 0 && box_bytes() % 1024 == 0;
  }

  friend constexpr bool operator==(const wgmma_operand&, const wgmma_operand&) = default;
};

namespace detail {

/// The descriptor of an operand that begins at a byte address in LDS.
TILEWRIGHT_HD constexpr unsigned long long wgmma_descriptor(unsigned long long fields, unsigned lds_address) {
  return fields | (lds_address & 0x3ffff) >> 4;
}

}  // namespace detail

}  // namespace tilewright
