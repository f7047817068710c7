// SPDX-License-Identifier: MIT
// The product of a block's tiles, from registers or from LDS: c += a b; and scheduling hints, memory instructions among
// a wave's matrix instructions.
#pragma once

#include <tilewright/block/mma/block_tile.hpp>
#include <tilewright/block/mma/find_block_tile.hpp>
#include <tilewright/block/mma/fragments.hpp>
#include <tilewright/core/arch/matrix_element.hpp>
#include <tilewright/machine/exec/exec.hpp>
#include <tilewright/tile/registers/static_distributed_tensor.hpp>

namespace tilewright::detail {

/// Spreads memory instructions, Count of one kind and OtherCount of another, evenly among the Matrix matrix
/// instructions since the last schedule_fence. The first of each kind comes before all matrix instructions, none after
/// the last Behind of them.
template <index_t Matrix, index_t Behind, exec::instruction_kind Kind, index_t Count,
          exec::instruction_kind OtherKind = Kind, index_t OtherCount = 0>
TILEWRIGHT_HD void spread_among_matrix_instructions() {
  constexpr index_t slots = max(Matrix - Behind, 1);
  unroll<slots>([](auto slot) {
    // Slots 0 to i hold ceil(n (i + 1) / slots) of the n instructions.
    constexpr index_t i = slot;
    constexpr index_t count = ceil_div(Count * (i + 1), slots) - ceil_div(Count * i, slots);
    constexpr index_t other = ceil_div(OtherCount * (i + 1), slots) - ceil_div(OtherCount * i, slots);
    if constexpr (count > 0) exec::schedule_group<Kind, count>();
    if constexpr (other > 0) exec::schedule_group<OtherKind, other>();
    exec::schedule_group<exec::instruction_kind::matrix, 1>();
  });
  if constexpr (Matrix > slots) exec::schedule_group<exec::instruction_kind::matrix, Matrix - slots>();
  exec::schedule_fence();
}

/// Keeps the sums in accumulation registers, where the target has them, so that the others are free for operands.
template <block_tile Tile, class Accumulator, class C>
TILEWRIGHT_HD void keep_in_accumulation_registers(static_distributed_tensor<Accumulator, C>& c) {
  if constexpr (arch::describe(Tile.op).c.num_registers() == 16)
    exec::keep_in_accumulation_registers<C::num_elements / 16>(c.thread_buffer.data());
}

}  // namespace tilewright::detail

namespace tilewright {

/// Matrix instructions that a wave issues for one step along k.
template <block_tile Tile>
inline constexpr index_t matrix_instructions_per_step =
    Tile.m / (arch::describe(Tile.op).m * Tile.waves_m) * (Tile.n / (arch::describe(Tile.op).n * Tile.waves_n)) *
    exec::mma_parts<Tile.op>;

namespace detail {

/// The order of a wave's matrix instructions and the registers of each.
template <block_tile Tile>
struct block_gemm_counts {
  static constexpr index_t n_repeat = Tile.n / (arch::describe(Tile.op).n * Tile.waves_n);
  static constexpr index_t k_repeat = Tile.num_k_steps();
  static constexpr index_t parts = exec::mma_parts<Tile.op>, tiles = matrix_instructions_per_step<Tile> / parts;
  static constexpr index_t a_registers = arch::describe(Tile.op).a.num_registers();
  static constexpr index_t b_registers = arch::describe(Tile.op).b.num_registers();
  static constexpr index_t c_registers = arch::describe(Tile.op).c.num_registers();
  static constexpr bool transposes_c = Tile.transposes_c();

  /// The i-th instruction's row and column of instruction tiles, step along k, part, and first registers. Successive
  /// instructions add to different accumulators. On NVIDIA GPUs they also share an operand, which is then not read from
  /// the registers again: every other row runs backwards.
  TILEWRIGHT_HD static constexpr index_t row(index_t i) { return i % tiles / n_repeat; }
  TILEWRIGHT_HD static constexpr index_t column(index_t i) {
    const bool backwards = detail::uses_ldmatrix(Tile.op) && row(i) % 2 == 1;
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

/// Issues the Count matrix instructions from First on.
template <block_tile Tile, index_t First, index_t Count, class Accumulator, class C, class A, class B>
TILEWRIGHT_HD void multiply_registers(static_distributed_tensor<Accumulator, C>& c, const A& a, const B& b) {
  issue_instructions<Tile, First>(c.thread_buffer.data(), a.thread_buffer.data(), b.thread_buffer.data(),
                                  make_sequence<Count>{});
}

/// Reads Count steps along k of an operand from First on, if it is in LDS; one in registers is there already.
template <block_tile Tile, index_t First, index_t Count, class Registers, class Operand>
TILEWRIGHT_HD void read_steps(Registers& registers, const Operand& operand, index_t lds_bytes, exec::call_site where) {
  if constexpr (is_lds_operand<Operand>)
    load_fragment_steps<Tile.op, Tile.num_k_steps(), First, Count>(registers, operand, lds_bytes, where);
}

/// The registers of an operand: itself, or those that a window in LDS is read into.
template <distribution_encoding Encoding, class Operand>
TILEWRIGHT_HD decltype(auto) registers_of(const Operand& operand) {
  if constexpr (is_lds_operand<Operand>) {
    return static_distributed_tensor<typename Operand::element_type, tile_distribution<Encoding>>{};
  } else {
    return (operand);
  }
}

/// LDS instructions that read one step along k of an operand.
template <block_tile Tile, class Operand>
TILEWRIGHT_HD constexpr index_t reads_of_step() {
  if constexpr (is_lds_operand<Operand>) return detail::reads_per_step<Operand, Tile.num_k_steps()>;
  return 0;
}

/// LLVM moves WMMA below later loads, whose results then occupy all registers; not below this.
template <block_tile Tile, class C>
TILEWRIGHT_HD void multiply_before_later_reads([[maybe_unused]] C& c) {
#if TILEWRIGHT_AMDGCN_PASS
  if constexpr (arch::describe(Tile.op).wave_size() == 32) {
    TILEWRIGHT_UNROLL_ALL
    for (auto& x : c.thread_buffer) x = bit_cast<decltype(+x)>(exec::opaque(bit_cast<index_t>(x)));
  }
#endif
}

/// Multiplies step by step; the operands in LDS are read ahead, among the matrix instructions of the steps before.
template <block_tile Tile, class C, class A, class B>
TILEWRIGHT_HD void multiply_reading_ahead(C& c, const A& a, const B& b, index_t lds_bytes, exec::call_site where) {
  constexpr index_t steps = Tile.num_k_steps(), per_step = matrix_instructions_per_step<Tile>;
  constexpr bool is_gfx11 = arch::describe(Tile.op).wave_size() == 32 && block_gemm_counts<Tile>::a_registers == 16;
  // A read takes about as long as four matrix instructions. gfx11 holds operands twice, in too many registers for that.
  constexpr index_t ahead = min(steps, per_step < 4 && !is_gfx11 ? 2 : 1),
                    reads = reads_of_step<Tile, A>() + reads_of_step<Tile, B>();
  auto&& a_registers = registers_of<a_encoding_v<Tile>>(a);
  auto&& b_registers = registers_of<b_encoding_v<Tile>>(b);
  exec::schedule_fence();
  read_steps<Tile, 0, ahead>(a_registers, a, lds_bytes, where);
  read_steps<Tile, 0, ahead>(b_registers, b, lds_bytes, where);
  exec::schedule_fence();
  unroll<steps>([&](auto step) {
    constexpr index_t s = step, next = s + ahead;
    if constexpr (next < steps) {
      read_steps<Tile, next, 1>(a_registers, a, lds_bytes, where);
      read_steps<Tile, next, 1>(b_registers, b, lds_bytes, where);
    }
    multiply_registers<Tile, s * per_step, per_step>(c, a_registers, b_registers);
    multiply_before_later_reads<Tile>(c);
    if constexpr (next < steps)
      detail::spread_among_matrix_instructions<per_step, per_step / 2, exec::instruction_kind::lds_read, reads>();
  });
}

}  // namespace detail

/// c += a b for tiles A (m x k), B (n x k) and C (m x n) of a block: c(m, n) += sum over k of a(m, k) b(n, k). A and B
/// are tiles in registers (static_distributed_tensor) or windows in LDS of an instruction's distributions:
/// a_distribution to c_distribution, or a_lds_distribution and b_lds_distribution. Others will do if they differ by a
/// permutation of k that A and B share, of n that B and C share, or of m that A and C share; anything else does not
/// compile. Windows are read `lds_bytes` further on, one or two steps along k ahead of the matrix instructions. Call it
/// from all threads of the block; who wrote to LDS before needs a barrier in between.
///
/// With operands in registers a part of the product can be asked for: of the wave's matrix instructions, ordered by
/// steps along k, Count from First on; matrix_instructions_per_step and num_k_steps tell how many there are.
template <block_tile Tile, index_t First = 0, index_t Count = matrix_instructions_per_step<Tile> * Tile.num_k_steps(),
          class Accumulator, class C, class A, class B>
TILEWRIGHT_HD void block_gemm(static_distributed_tensor<Accumulator, C>& c, const A& a, const B& b,
                              [[maybe_unused]] index_t lds_bytes = 0, [[maybe_unused]] exec::call_site where = {}) {
  constexpr index_t instructions = matrix_instructions_per_step<Tile> * Tile.num_k_steps();
  constexpr bool reads_lds = detail::is_lds_operand<A> || detail::is_lds_operand<B>;
  static_assert(0 <= First && 0 <= Count && First + Count <= instructions,
                "block_gemm: a wave issues fewer instructions; see matrix_instructions_per_step and num_k_steps");
  static_assert(!reads_lds || (First == 0 && Count == instructions),
                "block_gemm: only operands in registers can be multiplied in parts; load_fragment_steps reads them");
  if constexpr (detail::require_product<Tile, C, A, B, Accumulator>()) {
    if constexpr (reads_lds) {
      detail::multiply_reading_ahead<Tile>(c, a, b, lds_bytes, where);
    } else {
      detail::multiply_registers<Tile, First, Count>(c, a, b);
    }
  }
}

/// The same with the block tile that the distributions tell: the instruction is one that the target has.
template <class Accumulator, class C, class A, class B>
TILEWRIGHT_HD void block_gemm(static_distributed_tensor<Accumulator, C>& c, const A& a, const B& b,
                              index_t lds_bytes = 0, exec::call_site where = {}) {
  if constexpr (detail::require_operands<A, B, Accumulator>()) {
    constexpr detail::found_tiles tiles = detail::found_tiles_v<C, A, B>;
    if constexpr (tiles.all.empty()) {
      detail::require_agreement<tiles.verdict>();
    } else {
      detail::with_tile_of_target<detail::found_tiles_v<C, A, B>>(
          [&](auto tile) TILEWRIGHT_INLINE_LAMBDA { block_gemm<tile.value>(c, a, b, lds_bytes, where); });
    }
  }
}

}  // namespace tilewright
