// SPDX-License-Identifier: MIT
// A tile in LDS without padding, its chunks of up to 16 bytes permuted so that lanes meet in no bank.
#pragma once

#include <tilewright/descriptor/make_graph.hpp>

namespace tilewright {

/// Rows x cols elements, cols contiguous. Both, and the element's size, are powers of two.
struct lds_tile {
  index_t rows, cols, element_bytes;

  TILEWRIGHT_HD constexpr index_t row_bytes() const { return cols * element_bytes; }
  TILEWRIGHT_HD constexpr index_t bytes() const { return rows * row_bytes(); }
  friend constexpr bool operator==(const lds_tile&, const lds_tile&) = default;
};

/// The tile is cut into bank rows: `layer` rows one after the other, or one of the `segments` parts of a row; one of the two is 1.
/// The chunks of a bank row are numbered through; chunk c of bank row r lies at place
/// c ^ (xor of flips[i] over the bits i that are set in r) ^ (half_flip, if c is in the second half of the bank row).
struct swizzled_layout {
  static constexpr index_t max_row_bits = 12;

  lds_tile tile{};
  index_t layer = 1;
  inplace_vector<index_t, max_row_bits> flips;
  index_t segments = 1;
  index_t chunk_bytes = 16;  // that stay together; at least 4
  index_t half_flip =
      0;  // less than half of the chunks of a bank row; for instructions that see different numbers of banks

  TILEWRIGHT_HD constexpr index_t chunk_elements() const { return chunk_bytes / tile.element_bytes; }
  TILEWRIGHT_HD constexpr index_t chunks_per_row() const { return tile.row_bytes() / chunk_bytes; }
  TILEWRIGHT_HD constexpr index_t num_bank_rows() const { return tile.rows / layer * segments; }
  TILEWRIGHT_HD constexpr index_t chunks_per_bank_row() const { return chunks_per_row() * layer / segments; }

  /// Every chunk lies where it would without flips.
  TILEWRIGHT_HD constexpr bool is_plain() const {
    for (const index_t flip : flips) {
      if (flip != 0) return false;
    }
    return half_flip == 0;
  }

  /// The bank row of a byte of a row.
  TILEWRIGHT_HD constexpr index_t bank_row(index_t row, index_t byte) const {
    return row / layer * segments + byte / (tile.row_bytes() / segments);
  }

  /// Byte address of a byte of a row.
  TILEWRIGHT_HD constexpr index_t address(index_t row, index_t byte) const {
    const index_t r = bank_row(row, byte);
    index_t chunk = row % layer * chunks_per_row() + byte % (tile.row_bytes() / segments) / chunk_bytes;
    if (chunk >= chunks_per_bank_row() / 2) chunk ^= half_flip;
    for (index_t i = 0; i < flips.size(); ++i) chunk ^= (r >> i & 1) ? flips[i] : 0;
    return (r * chunks_per_bank_row() + chunk) * chunk_bytes + byte % chunk_bytes;
  }
  friend constexpr bool operator==(const swizzled_layout&, const swizzled_layout&) = default;
};

/// The layout as a graph from (row, col) to the offset in elements.
TILEWRIGHT_HD constexpr tensor_graph make_lds_graph(const swizzled_layout& layout) {
  using enum transform_kind;
  const index_t rows = layout.tile.rows, cols = layout.tile.cols, elements = layout.chunk_elements();
  if (layout.is_plain()) return packed_graph(rows, cols);
  const index_t bank_rows = layout.num_bank_rows(), chunks = layout.chunks_per_bank_row();
  placed_spec swizzle_bank_rows = place_transform(swizzle, dims(0, 1), dims(0, 1), bank_rows, chunks);
  for (const index_t flip : layout.flips) swizzle_bank_rows.spec.parameters.push_back(flip);
  const tensor_graph swizzled = transform_graph(packed_graph(bank_rows, chunks, elements), swizzle_bank_rows,
                                                place_transform(pass_through, dims(2), dims(2), elements));
  if (layout.half_flip != 0) {
    const index_t half = chunks / 2;
    const tensor_graph halves = transform_graph(swizzled, place_transform(pass_through, dims(0), dims(0), bank_rows),
                                                place_transform(unmerge, dims(1), dims(1, 2), 2, half),
                                                place_transform(pass_through, dims(2), dims(3), elements));
    const tensor_graph flipped =
        transform_graph(halves, place_transform(pass_through, dims(0), dims(0), bank_rows),
                        place_transform(swizzle, dims(1, 2), dims(1, 2), 2, half, layout.half_flip),
                        place_transform(pass_through, dims(3), dims(3), elements));
    if (layout.layer > 1) {
      const index_t inner = layout.layer / 2, row_chunks = layout.chunks_per_row();
      const tensor_graph layered = transform_graph(flipped, place_transform(pass_through, dims(0), dims(0), bank_rows),
                                                   place_transform(pass_through, dims(1), dims(1), 2),
                                                   place_transform(unmerge, dims(2), dims(2, 3), inner, row_chunks),
                                                   place_transform(pass_through, dims(3), dims(4), elements));
      return transform_graph(layered, place_transform(merge, dims(0, 1, 2), dims(0), bank_rows, 2, inner),
                             place_transform(merge, dims(3, 4), dims(1), row_chunks, elements));
    }
    const tensor_graph split = transform_graph(
        flipped, place_transform(unmerge, dims(0), dims(0, 1), rows, layout.segments),
        place_transform(pass_through, dims(1), dims(2), 2), place_transform(pass_through, dims(2), dims(3), half),
        place_transform(pass_through, dims(3), dims(4), elements));
    return transform_graph(split, place_transform(pass_through, dims(0), dims(0), rows),
                           place_transform(merge, dims(1, 2, 3, 4), dims(1), layout.segments, 2, half, elements));
  }
  if (layout.segments > 1) {
    const tensor_graph split =
        transform_graph(swizzled, place_transform(unmerge, dims(0), dims(0, 1), rows, layout.segments),
                        place_transform(pass_through, dims(1), dims(2), chunks),
                        place_transform(pass_through, dims(2), dims(3), elements));
    return transform_graph(split, place_transform(pass_through, dims(0), dims(0), rows),
                           place_transform(merge, dims(1, 2, 3), dims(1), layout.segments, chunks, elements));
  }
  const index_t row_chunks = layout.chunks_per_row();
  const tensor_graph layered = transform_graph(swizzled, place_transform(pass_through, dims(0), dims(0), bank_rows),
                                               place_transform(unmerge, dims(1), dims(1, 2), layout.layer, row_chunks),
                                               place_transform(pass_through, dims(2), dims(3), elements));
  return transform_graph(layered, place_transform(merge, dims(0, 1), dims(0), bank_rows, layout.layer),
                         place_transform(merge, dims(2, 3), dims(1), row_chunks, elements));
}

/// The layout as a descriptor from (row, col) to the offset in elements.
template <swizzled_layout Layout>
TILEWRIGHT_HD constexpr auto make_lds_descriptor() {
  return tensor_descriptor<make_lds_graph(Layout)>{{}, Layout.tile.rows * Layout.tile.cols};
}

}  // namespace tilewright
