// SPDX-License-Identifier: MIT
// A tile in LDS without padding, its 16-byte chunks permuted so that lanes meet in no bank.
#pragma once

#include <tilewright/descriptor/transform_descriptor.hpp>

namespace tilewright {

/// Rows x cols elements, cols contiguous. Both, and the element's size, are powers of two.
struct lds_tile {
  index_t rows, cols, element_bytes;
  friend constexpr bool operator==(const lds_tile&, const lds_tile&) = default;
};

/// `layer` rows lie one after the other in a bank row. The chunks of a bank row are numbered through; chunk c of bank row r lies at
/// place c ^ (xor of flips[i] over the bits i that are set in r).
struct swizzled_layout {
  static constexpr index_t chunk_bytes = 16;
  static constexpr index_t max_row_bits = 12;

  lds_tile tile{};
  index_t layer = 1;
  inplace_vector<index_t, max_row_bits> flips;

  TILEWRIGHT_HD constexpr index_t chunk_elements() const { return chunk_bytes / tile.element_bytes; }
  TILEWRIGHT_HD constexpr index_t chunks_per_row() const { return tile.cols / chunk_elements(); }

  /// Byte address of a byte of a row.
  TILEWRIGHT_HD constexpr index_t address(index_t row, index_t byte) const {
    const index_t bank_row = row / layer, chunks = chunks_per_row() * layer;
    index_t chunk = row % layer * chunks_per_row() + byte / chunk_bytes;
    for (index_t i = 0; i < flips.size(); ++i) chunk ^= (bank_row >> i & 1) ? flips[i] : 0;
    return (bank_row * chunks + chunk) * chunk_bytes + byte % chunk_bytes;
  }
  friend constexpr bool operator==(const swizzled_layout&, const swizzled_layout&) = default;
};

/// The layout as a descriptor from (row, col) to the offset in elements.
template <swizzled_layout Layout>
TILEWRIGHT_HD constexpr auto make_lds_descriptor() {
  constexpr number<Layout.tile.rows / Layout.layer> bank_rows{};
  constexpr number<Layout.chunks_per_row() * Layout.layer> chunks{};
  constexpr number<Layout.layer> layer{};
  constexpr number<Layout.chunks_per_row()> row_chunks{};
  constexpr number<Layout.chunk_elements()> elements{};
  constexpr auto flips = []<index_t... Is>(std::integer_sequence<index_t, Is...>) { return sequence<Layout.flips[Is]...>{}; }(
      std::make_integer_sequence<index_t, Layout.flips.size()>{});
  const auto chunked = make_naive_tensor_descriptor_packed(make_tuple(bank_rows, chunks, elements));
  const auto swizzled = transform_tensor_descriptor(
      chunked, make_tuple(make_swizzle_transform(make_tuple(bank_rows, chunks), flips), make_pass_through_transform(elements)),
      make_tuple(sequence<0, 1>{}, sequence<2>{}), make_tuple(sequence<0, 1>{}, sequence<2>{}));
  const auto layered = transform_tensor_descriptor(
      swizzled,
      make_tuple(make_pass_through_transform(bank_rows), make_unmerge_transform(make_tuple(layer, row_chunks)), make_pass_through_transform(elements)),
      make_tuple(sequence<0>{}, sequence<1>{}, sequence<2>{}), make_tuple(sequence<0>{}, sequence<1, 2>{}, sequence<3>{}));
  return transform_tensor_descriptor(
      layered, make_tuple(make_merge_transform(make_tuple(bank_rows, layer)), make_merge_transform(make_tuple(row_chunks, elements))),
      make_tuple(sequence<0, 1>{}, sequence<2, 3>{}), make_tuple(sequence<0>{}, sequence<1>{}));
}

}  // namespace tilewright
