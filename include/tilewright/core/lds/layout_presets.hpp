// SPDX-License-Identifier: MIT
// Layouts of a tile in LDS that have names: XOR swizzles, the documents' XOR preshuffle, plain and padded rows, base
// tiles.
#pragma once

#include <tilewright/core/arch/target.hpp>
#include <tilewright/core/base/math.hpp>
#include <tilewright/core/descriptor/make_graph.hpp>
#include <tilewright/core/lds/swizzled_layout.hpp>

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

/// The layout of a box of TMA and of wgmma's operands, with rows of 128 or 64 bytes: Swizzle<3, 4, 3>
/// or <2, 4, 3>. At most 4096 rows; the layout has the next power of two. (PTX ISA, "Swizzling modes")
TILEWRIGHT_HD constexpr swizzled_layout tma_swizzle(index_t rows, index_t row_bytes, index_t element_bytes) {
  const lds_tile tile{1 << detail::log2_floor(2 * rows - 1), row_bytes / element_bytes, element_bytes};
  return byte_swizzle_layout(tile, row_bytes == 128 ? 3 : 2, 4, 3);
}

namespace detail {

/// The same as a function of the byte address, in a box that begins at a multiple of 1024 bytes.
TILEWRIGHT_HD constexpr index_t tma_swizzled_address(index_t row_bytes, index_t address) {
  return address ^ (address >> 3 & (row_bytes == 128 ? 0x70 : 0x30));
}

TILEWRIGHT_HD constexpr bool is_tma_swizzle(const swizzled_layout& l) {
  const index_t row_bytes = l.tile.row_bytes();
  return (row_bytes == 128 || row_bytes == 64) && l == tma_swizzle(l.tile.rows, row_bytes, l.tile.element_bytes);
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

/// Rows of the tile that share one row of banks: those that fit into `bank_row_bytes` (128 for 32 banks, 256 for 64).
TILEWRIGHT_HD constexpr index_t lds_layer(index_t k_per_block, index_t element_bytes, index_t bank_row_bytes = 128) {
  return max(1, bank_row_bytes / (k_per_block * element_bytes));
}

/// KPack elements stay together and should be 16 bytes. MLdsLayer: see lds_layer. Both and KPerBlock are powers of two.
template <index_t KPerBlock, index_t KPack, index_t MLdsLayer, index_t MPerBlock, class T>
TILEWRIGHT_HD constexpr auto make_lds_index_swapping_descriptor() {
  static_assert(KPerBlock % KPack == 0, "lds_index_swapping: KPerBlock must be a multiple of KPack");
  static_assert(MPerBlock % MLdsLayer == 0, "lds_index_swapping: MPerBlock must be a multiple of MLdsLayer");
  static_assert(
      detail::is_power_of_two(KPerBlock) && detail::is_power_of_two(KPack) && detail::is_power_of_two(MLdsLayer),
      "lds_index_swapping: KPerBlock, KPack and MLdsLayer must be powers of two");
  constexpr lds_tile tile{MPerBlock, KPerBlock, sizeof(T)};
  return make_lds_descriptor<xor_preshuffle_layout(tile, MLdsLayer, KPack * index_t(sizeof(T)))>();
}

/// The same as a type.
template <index_t KPerBlock, index_t KPack, index_t MLdsLayer, index_t MPerBlock, class T>
struct lds_index_swapping {
  /// of the tile in LDS
  static constexpr auto descriptor = make_lds_index_swapping_descriptor<KPerBlock, KPack, MLdsLayer, MPerBlock, T>();
  using FinalDescriptor = decltype(descriptor);
};

/// Parameters of lds_index_swapping for rows of KPerBlock elements: vectors of 16 bytes, and as many rows to a row of
/// banks as fit, for the reads that see the most banks.
template <class T, index_t KPerBlock, class Arch>
struct lds_swapping_config {
  static constexpr index_t KPack = 16 / index_t(sizeof(T));  ///< elements of 16 bytes
  static_assert(KPerBlock % KPack == 0, "lds_swapping_config: rows must be a multiple of 16 bytes");
  /// Bytes of all banks together.
  static constexpr index_t bank_row_bytes = [] {
    constexpr arch::target target = Arch::value;
    index_t banks = 0;
    for (const arch::lds_service& reading : target.find(arch::lds_op::read_b128)->readings)
      banks = max(banks, reading.banks);
    return banks * arch::lds_bank_bytes;
  }();
  /// rows of the tile that share a row of the banks
  static constexpr index_t MLdsLayer = lds_layer(KPerBlock, sizeof(T), bank_row_bytes);
};

/// Rows without gaps.
TILEWRIGHT_HD constexpr tensor_graph plain_layout(const lds_tile& tile) { return packed_graph(tile.rows, tile.cols); }

/// Rows pad_bytes apart, a multiple of the element's size.
TILEWRIGHT_HD constexpr tensor_graph padded_layout(const lds_tile& tile, index_t pad_bytes) {
  return strided_graph(tile.rows, tile.cols, tile.cols + pad_bytes / tile.element_bytes, 1);
}

/// Base tiles (what a wave accesses at once: 16 bytes per lane, lanes row by row), each contiguous, in row-major order.
/// The tile is a whole number of base tiles.
TILEWRIGHT_HD constexpr tensor_graph base_tile_layout(const lds_tile& tile, index_t thread_rows, index_t thread_cols) {
  using enum transform_kind;
  const index_t cols = thread_cols * 16 / tile.element_bytes, down = tile.rows / thread_rows, right = tile.cols / cols;
  return transform_graph(packed_graph(down, right, thread_rows, cols),
                         place_transform(merge, {0, 2}, {0}, down, thread_rows),
                         place_transform(merge, {1, 3}, {1}, right, cols));
}

/// The descriptor of a layout that is known as a graph: linear, or a permutation of the tile without holes.
template <tensor_graph Graph>
  requires(Graph.num_values == 0)
TILEWRIGHT_HD constexpr auto make_lds_descriptor() {
  tensor_descriptor<Graph> result{{}, 1};
  for (const index_t length : result.get_lengths()) result.element_space_size *= length;
  if (detail::is_linear(Graph)) {
    auto last = result.get_lengths();
    for (index_t& i : last) --i;
    result.element_space_size = result.calculate_offset(last) + 1;
  }
  return result;
}

}  // namespace tilewright
