// SPDX-License-Identifier: MIT
// A block's matrix product: its lengths, how waves share it, and the distributions of A, B and C.
#pragma once

#include <tilewright/block/mma/fragments.hpp>
#include <tilewright/core/distribution/embed_encoding.hpp>
#include <tilewright/core/distribution/lane_map_encoding.hpp>
#include <tilewright/core/distribution/tile_distribution.hpp>

namespace tilewright {

/// A block tile of m x n x k, computed by waves_m x waves_n waves with one matrix instruction (group). Wave (i, j) owns
/// every waves_m-th row of instruction tiles from i on, and every waves_n-th column from j on.
struct block_tile {
  index_t m, n, k;           ///< C (m, n), A (m, k), B (n, k) of the block
  index_t waves_m, waves_n;  ///< waves along m and n
  arch::matrix_op op;        ///< the matrix instruction
  /// A permutation of the bits of k in A and B alike: C stays the same, other registers hold other k; see chained. Up
  /// to four pairs of bits that are exchanged one after another, 8 bits for each pair from the lowest on: nvcc cannot
  /// spell lists inside of a kernel's template arguments.
  unsigned k_order = 0;

  /// Steps of the matrix instruction along k.
  TILEWRIGHT_HD constexpr index_t num_k_steps() const { return k / arch::describe(op).k; }
  /// Waves of the block.
  TILEWRIGHT_HD constexpr index_t num_waves() const { return waves_m * waves_n; }
  /// Threads of the block.
  TILEWRIGHT_HD constexpr index_t block_size() const { return num_waves() * arch::describe(op).wave_size(); }

  /// Whether instructions tile the block exactly.
  TILEWRIGHT_HD constexpr bool is_sound() const {
    const arch::matrix_instruction i = arch::describe(op);
    const index_t columns = arch::is_wgmma(op) ? 8 : i.n;  // wgmma has any multiple of 8
    return m % (i.m * waves_m) == 0 && n % (columns * waves_n) == 0 && k % i.k == 0;
  }

  /// The instruction computes C transposed, so that a lane's registers run along n and rows of C are written in
  /// vectors. Needs an instruction that treats both operands alike.
  TILEWRIGHT_HD constexpr bool transposes_c() const {
    const arch::matrix_instruction i = arch::describe(op);
    return i.c.reg[0] == arch::row(0) && i.m == i.n;
  }

  /// Pairs of bits in k_order, and the i-th of them.
  TILEWRIGHT_HD constexpr index_t num_k_exchanges() const {
    index_t pairs = 0;
    while (pairs < 4 && k_order >> 8 * pairs != 0) ++pairs;
    return pairs;
  }
  /// Pair i: the two bits of k that change places.
  TILEWRIGHT_HD constexpr array<index_t, 2> k_exchange(index_t i) const {
    return {{index_t(k_order >> 8 * i & 15), index_t(k_order >> (8 * i + 4) & 15)}};
  }
  friend constexpr bool operator==(const block_tile&, const block_tile&) = default;
};

namespace detail {

TILEWRIGHT_HD constexpr arch::lane_map with_rows_as_columns(arch::lane_map map) {
  using coordinate = arch::lane_map_bit::coordinate;
  for (auto* list : {&map.lane, &map.reg}) {
    for (arch::lane_map_bit& b : *list) {
      if (b.of != coordinate::none) b.of = b.of == coordinate::row ? coordinate::col : coordinate::row;
    }
  }
  return map;
}

/// The lane map of an operand whose k the tile permutes.
TILEWRIGHT_HD constexpr arch::lane_map in_k_order(arch::lane_map map, const block_tile& t) {
  for (index_t i = 0; i < t.num_k_exchanges(); ++i) {
    const array<index_t, 2> pair = t.k_exchange(i);
    map = arch::with_permuted_bits(map, arch::lane_map_bit::coordinate::col, pair[0], pair[1]);
  }
  return map;
}

enum class gemm_operand : signed char { a, b, c };

/// An operand's tile over the block: waves of one coordinate own instruction tiles of A or B, those of the other hold
/// copies; C is divided by both. `map`: of one instruction.
TILEWRIGHT_HD constexpr distribution_encoding repeat_over_block(const block_tile& t, gemm_operand which,
                                                                const arch::lane_map& map) {
  const arch::matrix_instruction i = arch::describe(t.op);
  const bool is_b = which == gemm_operand::b, is_c = which == gemm_operand::c;
  distribution_encoding outer;
  if (!is_c) outer.r.push_back(is_b ? t.waves_m : t.waves_n);
  outer.h.push_back({});
  outer.h[0].push_back(is_b ? t.n / (i.n * t.waves_n) : t.m / (i.m * t.waves_m));
  outer.h[0].push_back(is_b ? t.waves_n : t.waves_m);
  outer.h.push_back({});
  outer.h[1].push_back(is_c ? t.n / (map.extent().col * t.waves_n) : t.num_k_steps());
  if (is_c) outer.h[1].push_back(t.waves_n);
  outer.p.push_back({});
  outer.p[0].push_back(is_b ? rh_id{0, 0} : rh_id{1, 1});
  outer.p[0].push_back(is_c ? rh_id{2, 1} : is_b ? rh_id{1, 1} : rh_id{0, 0});
  outer.p.push_back({});
  outer.y.push_back({1, 0});
  outer.y.push_back({2, 0});
  return embed(outer, encoding_of(map));
}

/// A (m x k) in the instruction's registers; B (n x k) likewise; C (m x n). With `addresses` it says who addresses
/// what, in an LDS layout with contiguous rows or, `transposed`, contiguous columns: not the same for ldmatrix and
/// transposing reads.
TILEWRIGHT_HD constexpr distribution_encoding a_encoding(const block_tile& t, bool addresses = false,
                                                         bool transposed = false) {
  const arch::lane_map map = in_k_order(arch::describe(t.op).a, t);
  return repeat_over_block(t, gemm_operand::a, addresses ? load_map(t.op, map, transposed) : map);
}
TILEWRIGHT_HD constexpr distribution_encoding b_encoding(const block_tile& t, bool addresses = false,
                                                         bool transposed = false) {
  const arch::lane_map map = in_k_order(arch::describe(t.op).b, t);
  return repeat_over_block(t, gemm_operand::b, addresses ? load_map(t.op, map, transposed) : map);
}
TILEWRIGHT_HD constexpr distribution_encoding c_encoding(const block_tile& t) {
  arch::lane_map map = arch::describe(t.op).c;
  // describe() has 16 columns of wgmma's, which has any multiple of 8: without column bit 3.
  if (arch::is_wgmma(t.op) && t.n % 16 != 0) map.reg = arch::bits(arch::col(0), arch::row(3));
  return repeat_over_block(t, gemm_operand::c, t.transposes_c() ? with_rows_as_columns(map) : map);
}

/// The same, computed once for each tile.
template <block_tile Tile, bool Addresses = false, bool Transposed = false>
inline constexpr distribution_encoding a_encoding_v = number<a_encoding(Tile, Addresses, Transposed)>::value;
template <block_tile Tile, bool Addresses = false, bool Transposed = false>
inline constexpr distribution_encoding b_encoding_v = number<b_encoding(Tile, Addresses, Transposed)>::value;
template <block_tile Tile>
inline constexpr distribution_encoding c_encoding_v = number<c_encoding(Tile)>::value;

}  // namespace detail

/// Distributions of tiles in registers that block_gemm<Tile> multiplies: A (m x k), B (n x k), and C (m x n).
template <block_tile Tile>
using a_distribution = tile_distribution<detail::a_encoding_v<Tile>>;
template <block_tile Tile>
using b_distribution = tile_distribution<detail::b_encoding_v<Tile>>;
template <block_tile Tile>
using c_distribution = tile_distribution<detail::c_encoding_v<Tile>>;

/// Distributions of windows in LDS that block_gemm<Tile> reads A (m x k) and B (n x k) through. ColumnsContiguous: the
/// layout in LDS has contiguous columns, along m or n, and not rows, along k; see reads_transposed.
template <block_tile Tile, bool ColumnsContiguous = false>
using a_lds_distribution = tile_distribution<detail::a_encoding_v<Tile, true, ColumnsContiguous>>;
template <block_tile Tile, bool ColumnsContiguous = false>
using b_lds_distribution = tile_distribution<detail::b_encoding_v<Tile, true, ColumnsContiguous>>;

}  // namespace tilewright
