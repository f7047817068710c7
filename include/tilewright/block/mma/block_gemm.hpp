// SPDX-License-Identifier: MIT
// block_gemm: C += A B^T of a block's tiles, from registers or LDS; hints that spread memory instructions among matrix
// instructions.
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

/// Keeps the accumulators in accumulation registers, where the target has them, so that others are free for operands.
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
    exec::mma_issues<Tile.op>;

namespace detail {

/// The order of a wave's matrix instructions and the registers of each.
template <block_tile Tile>
struct block_gemm_counts {
  static constexpr index_t n_repeat = Tile.n / (arch::describe(Tile.op).n * Tile.waves_n);
  static constexpr index_t k_repeat = Tile.num_k_steps();
  static constexpr index_t parts = exec::mma_issues<Tile.op>, tiles = matrix_instructions_per_step<Tile> / parts;
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
    (exec::mma_issue<Tile.op, counts::part(First + Is)>(
         c + constant(counts::c(First + Is)), b + constant(counts::b(First + Is)), a + constant(counts::a(First + Is))),
     ...);
  } else {
    (exec::mma_issue<Tile.op, counts::part(First + Is)>(
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

/// 32-bit registers of a thread that accumulators and the operands of two steps along k may take. Where they would take
/// more, block_gemm reads B in groups of columns.
inline constexpr index_t max_product_registers = 232;

/// Groups of a wave's columns whose B is read at once: 1 where the registers suffice.
template <block_tile Tile, class A, class B>
TILEWRIGHT_HD constexpr index_t num_column_groups() {
  if constexpr (is_lds_operand<B>) {
    using counts = block_gemm_counts<Tile>;
    if (B::distribution_type::encoding.y_length(0) != counts::n_repeat) return 1;
    const index_t m_repeat = counts::tiles / counts::n_repeat, bytes = sizeof(typename A::element_type);
    const index_t a_steps = is_lds_operand<A> ? 2 : counts::k_repeat;
    const index_t others = counts::tiles * counts::c_registers + a_steps * m_repeat * counts::a_registers * bytes / 4,
                  b = 2 * counts::n_repeat * counts::b_registers * bytes / 4;
    index_t groups = 1;
    while (counts::n_repeat % (2 * groups) == 0 && others + b / groups > max_product_registers) groups *= 2;
    return groups;
  }
  return 1;
}

/// The numbers of the matrix instructions of one step along k for group Group of Groups of the columns.
template <block_tile Tile, index_t Step, index_t Groups, index_t Group>
inline constexpr auto column_group_instructions = [] {
  using counts = block_gemm_counts<Tile>;
  constexpr index_t per_step = matrix_instructions_per_step<Tile>;
  array<index_t, per_step / Groups> numbers{};
  for (index_t i = Step * per_step, next = 0; i < (Step + 1) * per_step; ++i)
    if (counts::column(i) / (counts::n_repeat / Groups) == Group) numbers[next++] = i;
  return numbers;
}();

/// multiply_reading_ahead with B in Groups groups of columns: a group of a step is read while the one before it is
/// multiplied, so that B takes the registers of two groups, not of two steps.
template <block_tile Tile, index_t Groups, class C, class A, class B>
TILEWRIGHT_HD void multiply_by_columns(C& c, const A& a, const B& b, index_t lds_bytes, exec::call_site where) {
  constexpr index_t steps = Tile.num_k_steps(), count = matrix_instructions_per_step<Tile> / Groups,
                    b_reads = reads_of_step<Tile, B>();
  auto&& a_registers = registers_of<a_encoding_v<Tile>>(a);
  auto&& b_registers = registers_of<b_encoding_v<Tile>>(b);
  const auto read = [&]<index_t Unit>(number<Unit>) TILEWRIGHT_INLINE_LAMBDA {
    constexpr index_t step = Unit / Groups, group = Unit % Groups;
    if constexpr (group == 0) read_steps<Tile, step, 1>(a_registers, a, lds_bytes, where);
    load_fragment_accesses<Tile.op, steps, step, b_reads * group / Groups, b_reads*(group + 1) / Groups>(
        b_registers, b, lds_bytes, where);
  };
  exec::schedule_fence();
  read(number<0>{});
  exec::schedule_fence();
  unroll<steps * Groups>([&](auto unit) TILEWRIGHT_INLINE_LAMBDA {
    constexpr index_t u = unit, next = u + 1;
    if constexpr (next < steps * Groups) read(number<next>{});
    [&]<index_t... Is>(sequence<Is...>) TILEWRIGHT_INLINE_LAMBDA {
      issue_instructions<Tile, 0>(c.thread_buffer.data(), a_registers.thread_buffer.data(),
                                  b_registers.thread_buffer.data(),
                                  sequence<column_group_instructions<Tile, u / Groups, Groups, u % Groups>[Is]...>{});
    }(make_sequence<count>{});
    multiply_before_later_reads<Tile>(c);
    if constexpr (next < steps * Groups)
      spread_among_matrix_instructions<count, count / 2, exec::instruction_kind::lds_read,
                                       b_reads / Groups + (next % Groups == 0 ? reads_of_step<Tile, A>() : 0)>();
  });
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

/// C (m, n) += A (m, k) B (n, k)^T for the tiles of a block. A and B are tiles in registers (static_distributed_tensor)
/// or windows in LDS, of the tile's distributions: a_distribution to c_distribution, or a_lds_distribution and
/// b_lds_distribution. Others will do if they differ by a permutation of k that A and B share, of n that B and C share,
/// or of m that A and C share; anything else does not compile. Call it from all threads of the block; operands that
/// other waves wrote to LDS need a barrier before.
///
/// Windows are read `lds_bytes` further on, one or two steps along k ahead of the matrix instructions. Where
/// accumulators and two steps of the operands would take more than 232 registers, B is read in groups of columns.
///
/// With operands in registers a range of the wave's matrix instructions can be asked for: they are ordered by steps
/// along k, and Count of them are issued from First on; see matrix_instructions_per_step and num_k_steps.
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
      constexpr index_t groups = detail::num_column_groups<Tile, A, B>();
      if constexpr (groups > 1) {
        detail::multiply_by_columns<Tile, groups>(c, a, b, lds_bytes, where);
      } else {
        detail::multiply_reading_ahead<Tile>(c, a, b, lds_bytes, where);
      }
    } else {
      detail::multiply_registers<Tile, First, Count>(c, a, b);
    }
  }
}

/// block_gemm<Tile> with the block tile that follows from the distributions of A, B and C; its instruction is one that
/// the target has.
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
