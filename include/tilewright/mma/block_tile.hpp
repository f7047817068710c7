// SPDX-License-Identifier: MIT
// How a block's waves share a matrix product: the distributions of its operands and of its result.
#pragma once

#include <tilewright/distribution/embed_encoding.hpp>
#include <tilewright/distribution/lane_map_encoding.hpp>
#include <tilewright/mma/fragment_load.hpp>
#include <tilewright/util/math.hpp>

namespace tilewright {

/// A block tile of m x n x k, computed by waves_m x waves_n waves with one matrix instruction (group). Waves take
/// turns: wave (i, j) owns every waves_m-th row of instruction tiles, and every waves_n-th column.
struct block_tile {
  index_t m, n, k;
  index_t waves_m, waves_n;
  arch::matrix_op op;

  TILEWRIGHT_HD constexpr index_t num_waves() const { return waves_m * waves_n; }
  TILEWRIGHT_HD constexpr index_t block_size() const { return num_waves() * arch::describe(op).wave_size(); }

  /// Whether instructions tile the block exactly.
  TILEWRIGHT_HD constexpr bool is_sound() const {
    const arch::matrix_instruction i = arch::describe(op);
    return m % (i.m * waves_m) == 0 && n % (i.n * waves_n) == 0 && k % i.k == 0;
  }

  /// The instruction computes C transposed, so that a lane's registers run along n and rows of C are written in
  /// vectors. Needs an instruction that treats both operands alike.
  TILEWRIGHT_HD constexpr bool transposes_c() const {
    const arch::matrix_instruction i = arch::describe(op);
    return i.c.reg[0] == arch::row(0) && i.m == i.n;
  }
  friend constexpr bool operator==(const block_tile&, const block_tile&) = default;
};

namespace detail {

/// Factors {count, waves} of the first dimension and {count} of the second over the waves;
/// `minor_first`: which of the two wave coordinates the operand depends on.
TILEWRIGHT_HD constexpr distribution_encoding operand_encoding(index_t repeat, index_t waves, index_t other_waves,
                                                               index_t repeat_k, bool waves_are_major,
                                                               const arch::lane_map& map) {
  distribution_encoding outer;
  outer.r.push_back(other_waves);
  outer.h.push_back({});
  outer.h[0].push_back(repeat);
  outer.h[0].push_back(waves);
  outer.h.push_back({});
  outer.h[1].push_back(repeat_k);
  outer.p.push_back({});
  outer.p[0].push_back(waves_are_major ? rh_id{1, 1} : rh_id{0, 0});
  outer.p[0].push_back(waves_are_major ? rh_id{0, 0} : rh_id{1, 1});
  outer.p.push_back({});
  outer.y.push_back({1, 0});
  outer.y.push_back({2, 0});
  return embed(outer, encoding_of(map));
}

TILEWRIGHT_HD constexpr arch::lane_map transposed(arch::lane_map map) {
  using coordinate = arch::lane_map_bit::coordinate;
  for (auto* list : {&map.lane, &map.reg}) {
    for (arch::lane_map_bit& b : *list) {
      if (b.of != coordinate::none) b.of = b.of == coordinate::row ? coordinate::col : coordinate::row;
    }
  }
  return map;
}

}  // namespace detail

/// A (m x k) in the instruction's registers; B (n x k) likewise. With `addresses` it says who addresses what, in an LDS
/// layout with contiguous rows or, `transposed`, contiguous columns: not the same for ldmatrix and transposing reads.
TILEWRIGHT_HD constexpr distribution_encoding a_encoding(const block_tile& t, bool addresses = false,
                                                         bool transposed = false) {
  const arch::matrix_instruction i = arch::describe(t.op);
  return detail::operand_encoding(t.m / (i.m * t.waves_m), t.waves_m, t.waves_n, t.k / i.k, true,
                                  addresses ? load_map(t.op, i.a, transposed) : i.a);
}
TILEWRIGHT_HD constexpr distribution_encoding b_encoding(const block_tile& t, bool addresses = false,
                                                         bool transposed = false) {
  const arch::matrix_instruction i = arch::describe(t.op);
  return detail::operand_encoding(t.n / (i.n * t.waves_n), t.waves_n, t.waves_m, t.k / i.k, false,
                                  addresses ? load_map(t.op, i.b, transposed) : i.b);
}

/// C (m x n) in the instruction's registers.
TILEWRIGHT_HD constexpr distribution_encoding c_encoding(const block_tile& t) {
  const arch::matrix_instruction i = arch::describe(t.op);
  distribution_encoding outer;
  outer.h.push_back({});
  outer.h[0].push_back(t.m / (i.m * t.waves_m));
  outer.h[0].push_back(t.waves_m);
  outer.h.push_back({});
  outer.h[1].push_back(t.n / (i.n * t.waves_n));
  outer.h[1].push_back(t.waves_n);
  outer.p.push_back({});
  outer.p[0].push_back({1, 1});
  outer.p[0].push_back({2, 1});
  outer.p.push_back({});
  outer.y.push_back({1, 0});
  outer.y.push_back({2, 0});
  return embed(outer, encoding_of(t.transposes_c() ? detail::transposed(i.c) : i.c));
}

/// The same, computed once for each tile.
template <block_tile Tile>
inline constexpr distribution_encoding a_encoding_v = number<a_encoding(Tile)>::value;
template <block_tile Tile>
inline constexpr distribution_encoding b_encoding_v = number<b_encoding(Tile)>::value;
template <block_tile Tile>
inline constexpr distribution_encoding c_encoding_v = number<c_encoding(Tile)>::value;

/// Steps along k that the block tile's matrix instruction takes.
TILEWRIGHT_HD constexpr index_t num_k_steps(const block_tile& t) { return t.k / arch::describe(t.op).k; }

/// Matrix instructions that a wave issues for one step along k.
template <block_tile Tile>
inline constexpr index_t matrix_instructions_per_step =
    Tile.m / (arch::describe(Tile.op).m * Tile.waves_m) * (Tile.n / (arch::describe(Tile.op).n * Tile.waves_n)) *
    exec::mma_parts<Tile.op>;

namespace detail {

/// What block_gemm asks of a tile again and again.
template <block_tile Tile>
struct block_gemm_counts {
  static constexpr index_t n_repeat = Tile.n / (arch::describe(Tile.op).n * Tile.waves_n);
  static constexpr index_t k_repeat = num_k_steps(Tile);
  static constexpr index_t parts = exec::mma_parts<Tile.op>, tiles = matrix_instructions_per_step<Tile> / parts;
  static constexpr index_t a_registers = arch::describe(Tile.op).a.num_registers();
  static constexpr index_t b_registers = arch::describe(Tile.op).b.num_registers();
  static constexpr index_t c_registers = arch::describe(Tile.op).c.num_registers();
  static constexpr bool transposes_c = Tile.transposes_c();

  /// Of the i-th instruction: the row and the column of instruction tiles, the step along k, its part, and where its
  /// registers begin. Instructions that follow each other add to different accumulators. On NVIDIA GPUs they also share
  /// an operand, which is then not read from the registers again: every other row runs backwards.
  TILEWRIGHT_HD static constexpr index_t row(index_t i) { return i % tiles / n_repeat; }
  TILEWRIGHT_HD static constexpr index_t column(index_t i) {
    const bool backwards = uses_ldmatrix(Tile.op) && row(i) % 2 == 1;
    return backwards ? n_repeat - 1 - i % tiles % n_repeat : i % tiles % n_repeat;
  }
  TILEWRIGHT_HD static constexpr index_t step(index_t i) { return i / (tiles * parts); }
  TILEWRIGHT_HD static constexpr index_t part(index_t i) { return i / tiles % parts; }
  TILEWRIGHT_HD static constexpr index_t a(index_t i) { return (row(i) * k_repeat + step(i)) * a_registers; }
  TILEWRIGHT_HD static constexpr index_t b(index_t i) { return (column(i) * k_repeat + step(i)) * b_registers; }
  TILEWRIGHT_HD static constexpr index_t c(index_t i) { return (row(i) * n_repeat + column(i)) * c_registers; }
};

template <block_tile Tile, index_t First, class Accumulator, class A, class B, index_t... Is>
TILEWRIGHT_HD void issue_instructions(Accumulator* c, const A* a, const B* b, sequence<Is...>) {
  using counts = block_gemm_counts<Tile>;
  if constexpr (counts::transposes_c) {
    (exec::mma_part<Tile.op, counts::part(First + Is)>(
         c + constant(counts::c(First + Is)), b + constant(counts::b(First + Is)), a + constant(counts::a(First + Is))),
     ...);
  } else {
    (exec::mma_part<Tile.op, counts::part(First + Is)>(
         c + constant(counts::c(First + Is)), a + constant(counts::a(First + Is)), b + constant(counts::b(First + Is))),
     ...);
  }
}

}  // namespace detail

/// c += a b, where a, b and c have the distributions above; of the wave's instructions, ordered by steps along k,
/// only `Count` from First on.
template <block_tile Tile, index_t First = 0, index_t Count = matrix_instructions_per_step<Tile> * num_k_steps(Tile),
          class Accumulator, class AElement, class BElement, class A, class B, class C>
TILEWRIGHT_HD void block_gemm(static_distributed_tensor<Accumulator, C>& c,
                              const static_distributed_tensor<AElement, A>& a,
                              const static_distributed_tensor<BElement, B>& b) {
  static_assert(Tile.is_sound(),
                "block_gemm: the block tile is not a whole number of matrix instructions for each wave");
  constexpr index_t instructions = matrix_instructions_per_step<Tile> * num_k_steps(Tile);
  static_assert(0 <= First && 0 <= Count && First + Count <= instructions,
                "block_gemm: a wave issues fewer instructions; see matrix_instructions_per_step and num_k_steps");
  detail::issue_instructions<Tile, First>(c.thread_buffer.data(), a.thread_buffer.data(), b.thread_buffer.data(),
                                          make_sequence<Count>{});
}

}  // namespace tilewright
