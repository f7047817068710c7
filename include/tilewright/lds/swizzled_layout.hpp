// SPDX-License-Identifier: MIT
// A tile in LDS without padding, its chunks of up to 16 bytes permuted so that lanes meet in no bank.
#pragma once

#include <tilewright/descriptor/tensor_descriptor.hpp>

namespace tilewright {

/// Rows x cols elements, cols contiguous. Both, and the element's size, are powers of two.
struct lds_tile {
  index_t rows, cols, element_bytes;

  TILEWRIGHT_HD constexpr index_t row_bytes() const { return cols * element_bytes; }
  TILEWRIGHT_HD constexpr index_t bytes() const { return rows * row_bytes(); }
  friend constexpr bool operator==(const lds_tile&, const lds_tile&) = default;
};

/// The tile is cut into bank rows: `layer` consecutive rows, or one of the `segments` parts of a row; one of
/// the two is 1. The chunks of a bank row are numbered through; chunk c of bank row r lies at place c ^ (xor of
/// flips[i] over the bits i that are set in r) ^ (half_flip, if c is in the second half of the bank row).
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

namespace detail {

/// Puts a transform on top of hidden dimensions of a static graph; returns the first of its upper dimensions, which
/// follow each other.
TILEWRIGHT_HD constexpr index_t add_transform(tensor_graph& graph, transform_kind kind,
                                              std::initializer_list<index_t> lower, index_t num_upper,
                                              std::initializer_list<index_t> parameters) {
  graph_node& node = graph.nodes.elements[graph.nodes.count++];
  node.spec.kind = kind;
  node.spec.num_lower = static_cast<signed char>(lower.size());
  node.spec.num_upper = static_cast<signed char>(num_upper);
  for (const index_t parameter : parameters) node.spec.parameters.push_back(parameter);
  for (const index_t id : lower) node.lower.push_back(static_cast<signed char>(id));
  const index_t first = graph.num_hidden;
  for (; graph.num_hidden < first + num_upper; ++graph.num_hidden) {
    node.upper.push_back(static_cast<signed char>(graph.num_hidden));
  }
  return first;
}

}  // namespace detail

/// The layout as a graph from (row, col) to the offset in elements. It is put together here, node by node: each kernel
/// needs a few, and checking each step as transform_graph does takes the compiler five times as long.
TILEWRIGHT_HD constexpr tensor_graph make_lds_graph(const swizzled_layout& layout) {
  using enum transform_kind;
  using detail::add_transform;
  const index_t rows = layout.tile.rows, cols = layout.tile.cols, elements = layout.chunk_elements();
  tensor_graph graph;
  index_t row, col;
  if (layout.is_plain()) {
    row = add_transform(graph, unmerge, {0}, 2, {rows, cols});
    col = row + 1;
  } else {
    const index_t bank_rows = layout.num_bank_rows(), chunks = layout.chunks_per_bank_row();
    const index_t bank_row = add_transform(graph, unmerge, {0}, 3, {bank_rows, chunks, elements});
    const index_t element = bank_row + 2;
    const index_t swizzled = add_transform(graph, swizzle, {bank_row, bank_row + 1}, 2, {bank_rows, chunks});
    for (const index_t flip : layout.flips) graph.nodes.back().spec.parameters.push_back(flip);
    const index_t chunk = swizzled + 1;
    if (layout.half_flip != 0) {
      const index_t half = chunks / 2;
      const index_t halves = add_transform(graph, unmerge, {chunk}, 2, {2, half});
      const index_t flipped = add_transform(graph, swizzle, {halves, halves + 1}, 2, {2, half, layout.half_flip});
      if (layout.layer > 1) {
        const index_t inner = layout.layer / 2, row_chunks = layout.chunks_per_row();
        const index_t layered = add_transform(graph, unmerge, {flipped + 1}, 2, {inner, row_chunks});
        row = add_transform(graph, merge, {swizzled, flipped, layered}, 1, {bank_rows, 2, inner});
        col = add_transform(graph, merge, {layered + 1, element}, 1, {row_chunks, elements});
      } else {
        row = add_transform(graph, unmerge, {swizzled}, 2, {rows, layout.segments});
        col = add_transform(graph, merge, {row + 1, flipped, flipped + 1, element}, 1,
                            {layout.segments, 2, half, elements});
      }
    } else if (layout.segments > 1) {
      row = add_transform(graph, unmerge, {swizzled}, 2, {rows, layout.segments});
      col = add_transform(graph, merge, {row + 1, chunk, element}, 1, {layout.segments, chunks, elements});
    } else {
      const index_t row_chunks = layout.chunks_per_row();
      const index_t layered = add_transform(graph, unmerge, {chunk}, 2, {layout.layer, row_chunks});
      row = add_transform(graph, merge, {swizzled, layered}, 1, {bank_rows, layout.layer});
      col = add_transform(graph, merge, {layered + 1, element}, 1, {row_chunks, elements});
    }
  }
  graph.top.push_back(static_cast<signed char>(row));
  graph.top.push_back(static_cast<signed char>(col));
  return graph;
}

/// The layout as a descriptor from (row, col) to the offset in elements.
template <swizzled_layout Layout>
TILEWRIGHT_HD constexpr auto make_lds_descriptor() {
  return tensor_descriptor<make_lds_graph(Layout)>{{}, Layout.tile.rows * Layout.tile.cols};
}

}  // namespace tilewright
