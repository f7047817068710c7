// SPDX-License-Identifier: MIT
// A tile in LDS without padding, whose chunks of up to 16 bytes are permuted to avoid bank conflicts.
#pragma once

#include <tilewright/core/base/math.hpp>
#include <tilewright/core/descriptor/tensor_descriptor.hpp>

namespace tilewright {

/// Rows x cols elements, cols contiguous. The size of an element and of a row are powers of two, and the number of rows
/// for what needs linear layouts.
struct lds_tile {
  index_t rows, cols, element_bytes;  ///< bytes of an element: 1, 2, 4, 8 or 16

  /// Bytes of a row.
  TILEWRIGHT_HD constexpr index_t row_bytes() const { return cols * element_bytes; }
  /// Bytes of the tile.
  TILEWRIGHT_HD constexpr index_t bytes() const { return rows * row_bytes(); }
  friend constexpr bool operator==(const lds_tile&, const lds_tile&) = default;
};

/// A permutation of the tile's chunks that is linear over bits. Chunks are numbered row after row, and bits of the
/// number become bits of the chunk's place: those in places[0] the lowest ones, then those in places[1], and so on;
/// then all others, the bank row's number. Within a group they keep their order. A bit above group 0 may also flip bits
/// of the groups below its own: flips[0] are the places that the first bit above group 0 flips, flips[1] those of the
/// next one; flips that are not listed are 0.
struct swizzled_layout {
  static constexpr index_t max_bits = 16;  ///< of a chunk's number

  lds_tile tile{};                          ///< what is laid out
  index_t chunk_bytes = 16;                 ///< that stay together; at least 4
  inplace_vector<unsigned, 3> places;       ///< several groups where instructions see different numbers of banks
  inplace_vector<index_t, max_bits> flips;  ///< masks of bits of the number, as above

  /// Elements of a chunk.
  TILEWRIGHT_HD constexpr index_t chunk_elements() const { return chunk_bytes / tile.element_bytes; }
  /// Chunks of a row.
  TILEWRIGHT_HD constexpr index_t chunks_per_row() const { return tile.row_bytes() / chunk_bytes; }
  /// Chunks of the tile.
  TILEWRIGHT_HD constexpr index_t num_chunks() const { return tile.bytes() / chunk_bytes; }
  /// Chunks of one row of the banks.
  TILEWRIGHT_HD constexpr index_t chunks_per_bank_row() const {
    index_t result = 1;
    for (const unsigned group : places) result <<= count_of(group);
    return result;
  }
  /// Rows of the banks that the tile fills.
  TILEWRIGHT_HD constexpr index_t num_bank_rows() const { return num_chunks() / chunks_per_bank_row(); }

  /// The bits of a chunk's number that are in no group.
  TILEWRIGHT_HD constexpr unsigned rest() const {
    unsigned bits = num_chunks() > 1 ? (2u << detail::log2_floor(num_chunks() - 1)) - 1 : 0;
    for (const unsigned group : places) bits &= ~group;
    return bits;
  }

  /// Every chunk lies where it would in plain rows.
  TILEWRIGHT_HD constexpr bool is_plain() const {
    unsigned lower = 0;
    for (const unsigned group : places) {
      if (((lower | group) & (lower + group + 1)) != 0 || group < lower) return false;
      lower |= group;
    }
    for (const index_t flip : flips) {
      if (flip != 0) return false;
    }
    return true;
  }

  /// Where the chunk of this number lies, in chunks.
  TILEWRIGHT_HD constexpr index_t position_of_chunk(index_t chunk) const {
    index_t place = 0, bit = 0;
    const index_t first_flip = places.empty() ? 0 : count_of(places[0]);
    for (index_t i = 0; i <= places.size(); ++i) {
      for (unsigned group = i < places.size() ? places[i] : rest(); group != 0; group &= group - 1, ++bit) {
        if ((unsigned(chunk) & group & (0u - group)) == 0) continue;
        place ^= 1 << bit;
        if (bit >= first_flip && bit - first_flip < flips.size()) place ^= flips[bit - first_flip];
      }
    }
    return place;
  }

  /// Byte address of a byte of a row.
  TILEWRIGHT_HD constexpr index_t address(index_t row, index_t byte) const {
    return position_of_chunk(row * chunks_per_row() + byte / chunk_bytes) * chunk_bytes + byte % chunk_bytes;
  }
  friend constexpr bool operator==(const swizzled_layout&, const swizzled_layout&) = default;

  /// How many bits are set.
  TILEWRIGHT_HD static constexpr index_t count_of(unsigned bits) { return __builtin_popcount(bits); }
};

/// Chunks permuted within bank rows of a given number of bytes: consecutive rows of the tile, or equal parts of a row.
/// Flips: for each bit of the bank row's number, the places that it flips.
TILEWRIGHT_HD constexpr swizzled_layout swizzled_rows(const lds_tile& tile, index_t bank_row_bytes,
                                                      std::initializer_list<index_t> flips = {},
                                                      index_t chunk_bytes = 16) {
  swizzled_layout result{tile, chunk_bytes, {}, {}};
  result.places.push_back(unsigned(bank_row_bytes / chunk_bytes - 1));
  for (const index_t flip : flips) result.flips.push_back(flip);
  return result;
}

namespace detail {

/// Puts a transform on top of hidden dimensions of a static graph; returns the first of its upper dimensions, which
/// follow each other.
template <class Lower, class Parameters>
TILEWRIGHT_HD constexpr index_t add_transform(tensor_graph& graph, transform_kind kind, const Lower& lower,
                                              index_t num_upper, const Parameters& parameters) {
  tensor_graph::node& node = graph.nodes.elements[graph.nodes.count++];
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

/// The swizzle by which one part of a chunk's number flips another, unless it flips nothing. Parts: those bits that are
/// in no group, then the groups from the last one on.
TILEWRIGHT_HD constexpr void add_flips(tensor_graph& graph, const swizzled_layout& layout,
                                       const inplace_vector<index_t, 8>& lengths, inplace_vector<index_t, 8>& parts,
                                       index_t high, index_t low) {
  const index_t groups = layout.places.size();
  index_t first_flip = 0, first_bit = 0, flipped = 0;
  for (index_t i = high + 1; i < groups; ++i) first_flip += log2_floor(lengths[i]);
  for (index_t i = low + 1; i <= groups; ++i) first_bit += log2_floor(lengths[i]);
  inplace_vector<index_t, transform_spec::max_parameters> parameters{{lengths[high], lengths[low]}, 2};
  for (index_t bit = 0; 1 << bit < lengths[high]; ++bit) {
    const index_t i = first_flip + bit, flip = i < layout.flips.size() ? layout.flips[i] : 0;
    parameters.push_back(flip >> first_bit & (lengths[low] - 1));
    flipped |= parameters.back();
  }
  if (flipped == 0) return;
  parts[high] =
      add_transform(graph, transform_kind::swizzle, array<index_t, 2>{{parts[high], parts[low]}}, 2, parameters);
  parts[low] = parts[high] + 1;
}

/// Runs of bits that follow each other in the number of a chunk, each a hidden dimension; by the run's highest bit.
struct bit_runs {
  index_t id[swizzled_layout::max_bits] = {};
  index_t length[swizzled_layout::max_bits] = {};  // 0: no run has this highest bit
};

/// Cuts a dimension of this length, which numbers the bits `group` of a chunk's number, into runs. None crosses
/// `col_bits`, where the bits of the row begin.
TILEWRIGHT_HD constexpr void cut_into_runs(tensor_graph& graph, index_t id, index_t length, unsigned group,
                                           index_t col_bits, bit_runs& runs) {
  inplace_vector<index_t, transform_spec::max_dims> lengths;
  index_t highest[transform_spec::max_dims] = {};
  for (index_t bit = swizzled_layout::max_bits; bit-- > 0;) {
    if ((group >> bit & 1) == 0) continue;
    if ((group >> (bit + 1) & 1) == 0 || bit + 1 == col_bits) {
      highest[lengths.size()] = bit;
      lengths.push_back(1);
    }
    lengths.back() *= 2;
  }
  if (lengths.empty()) return;
  for (index_t i = 1; i < lengths.size(); ++i) length /= lengths[i];
  lengths[0] = length;  // which need not be a power of two
  const index_t first = lengths.size() < 2 ? id
                                           : add_transform(graph, transform_kind::unmerge, array<index_t, 1>{{id}},
                                                           lengths.size(), lengths);
  for (index_t i = 0; i < lengths.size(); ++i) {
    runs.id[highest[i]] = first + i;
    runs.length[highest[i]] = lengths[i];
  }
}

/// The dimension that counts through the runs whose highest bits are in [first, end), and then through `last`, if its
/// length is not 0.
TILEWRIGHT_HD constexpr index_t merge_runs(tensor_graph& graph, const bit_runs& runs, index_t first, index_t end,
                                           index_t last, index_t last_length) {
  inplace_vector<index_t, swizzled_layout::max_bits + 1> ids, lengths;
  if (last_length != 0) ids.push_back(last), lengths.push_back(last_length);
  for (index_t bit = first; bit < end; ++bit) {
    if (runs.length[bit] == 0) continue;
    ids.push_back(runs.id[bit]);
    lengths.push_back(runs.length[bit]);
  }
  // Fastest first; one merge takes at most max_dims lengths.
  while (ids.size() > 1) {
    inplace_vector<index_t, transform_spec::max_dims> low, parameters;
    const index_t count = min(ids.size(), transform_spec::max_dims);
    index_t length = 1;
    for (index_t i = count; i-- > 0; length *= lengths[i]) low.push_back(ids[i]), parameters.push_back(lengths[i]);
    ids[0] = add_transform(graph, transform_kind::merge, low, 1, parameters);
    lengths[0] = length;
    for (index_t i = count; i < ids.size(); ++i) ids[i - count + 1] = ids[i], lengths[i - count + 1] = lengths[i];
    ids.count = lengths.count = ids.count - count + 1;
  }
  return ids[0];
}

/// The layout as a graph from (row, col) to the offset in elements. It is put together here, node by node: each kernel
/// needs a few, and checking each step as transform_graph does takes the compiler five times as long.
TILEWRIGHT_HD constexpr tensor_graph make_lds_graph(const swizzled_layout& layout) {
  using enum transform_kind;
  using dims = array<index_t, 2>;
  const index_t rows = layout.tile.rows, cols = layout.tile.cols, elements = layout.chunk_elements();
  tensor_graph graph;
  index_t row, col;
  if (layout.is_plain()) {
    row = add_transform(graph, unmerge, array<index_t, 1>{{0}}, 2, dims{{rows, cols}});
    col = row + 1;
  } else {
    // The offset in parts: the bits in no group, the groups from the last one on, the elements of a chunk.
    const index_t groups = layout.places.size(), col_bits = log2_floor(layout.chunks_per_row());
    inplace_vector<index_t, 8> lengths, parts;
    lengths.push_back(layout.num_bank_rows());
    for (index_t i = groups; i-- > 0;) lengths.push_back(1 << layout.count_of(layout.places[i]));
    lengths.push_back(elements);
    index_t element = add_transform(graph, unmerge, array<index_t, 1>{{0}}, groups + 2, lengths) + groups + 1;
    for (index_t i = 0; i <= groups; ++i) parts.push_back(element - groups - 1 + i);
    // Every part flips those after it, by its own bits as they are in the chunk's number: the last ones come first.
    for (index_t low = 1; low <= groups; ++low) {
      for (index_t high = 0; high < low; ++high) add_flips(graph, layout, lengths, parts, high, low);
    }
    bit_runs runs;
    for (index_t i = 0; i <= groups; ++i)
      cut_into_runs(graph, parts[i], lengths[i], i == 0 ? layout.rest() : layout.places[groups - i], col_bits, runs);
    if (rows == 1) {  // a row's number that is always 0
      row = add_transform(graph, unmerge, array<index_t, 1>{{element}}, 2, dims{{1, elements}});
      element = row + 1;
    } else {
      row = merge_runs(graph, runs, col_bits, swizzled_layout::max_bits, 0, 0);
    }
    col = merge_runs(graph, runs, 0, col_bits, element, elements);
  }
  graph.top.push_back(static_cast<signed char>(row));
  graph.top.push_back(static_cast<signed char>(col));
  return graph;
}

}  // namespace detail

/// The layout as a descriptor from (row, col) to the offset in elements.
template <swizzled_layout Layout>
TILEWRIGHT_HD constexpr auto make_lds_descriptor() {
  return tensor_descriptor<detail::make_lds_graph(Layout)>{{}, Layout.tile.rows * Layout.tile.cols};
}

}  // namespace tilewright
