// SPDX-License-Identifier: MIT
// Scheduling hints: memory instructions among a wave's matrix instructions.
#pragma once

#include <tilewright/exec/exec.hpp>
#include <tilewright/mma/block_tile.hpp>
#include <tilewright/tile/static_distributed_tensor.hpp>

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
