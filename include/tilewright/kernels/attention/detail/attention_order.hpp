// SPDX-License-Identifier: MIT
// A persistent block of attention on Hopper: the order of its rows of Q, warpgroups that consume, and one that
// produces.
#pragma once

#include <tilewright/block/pipeline/warp_roles.hpp>
#include <tilewright/core/arch/sm90.hpp>
#include <tilewright/kernels/attention/attention_args.hpp>
#include <tilewright/machine/exec/hopper.hpp>

namespace tilewright::detail {

/// A block's share of a launch at a time: tile `row` of a head, or of a part of it, of a sequence.
struct attention_unit {
  index_t row, head, batch;
};

/// Heads, counted over all sequences, are taken in groups, one group after the other.
struct attention_order {
  index_t rows = 1, heads = 1, batch = 1;  // tiles of a head; heads of a sequence; sequences
  index_t group = 1;                       // heads
  bool longest_first = false;              // the last rows see most keys
  bool goes_back = true;  // every other round; else a unit's block has no higher number than a later one's

  TILEWRIGHT_HD constexpr index_t num_units() const { return rows * heads * batch; }
  TILEWRIGHT_HD constexpr index_t num_groups() const { return ceil_div(heads * batch, group); }
  TILEWRIGHT_HD constexpr index_t rounds_of_group(index_t blocks) const { return ceil_div(group * rows, blocks); }
  TILEWRIGHT_HD constexpr index_t num_rounds(index_t blocks) const { return num_groups() * rounds_of_group(blocks); }

  /// The work unit of a block in a round; row -1: none. Every other round of a group goes backwards, and the next group
  /// starts at the other end: so blocks get about equal numbers of keys.
  TILEWRIGHT_HD constexpr attention_unit operator()(index_t block, index_t blocks, index_t round) const {
    const index_t g = divide(round, rounds_of_group(blocks)), r = round - g * rounds_of_group(blocks);
    const index_t u = r * blocks + (longest_first && goes_back && (r + g) % 2 == 1 ? blocks - 1 - block : block);
    const index_t width = min(group, heads * batch - g * group);
    if (u >= width * rows) return {-1, 0, 0};
    const index_t in_group = longest_first ? modulo(u, width) : divide(u, rows), head = g * group + in_group;
    const index_t b = divide(head, heads);
    return {longest_first ? rows - 1 - divide(u, width) : u - in_group * rows, head - b * heads, b};
  }
};

/// For `blocks` blocks; `bytes_of_head`: of K and V of a head's keys. Heads are grouped so
/// that their K and V fit in L2, unless a wave of blocks would then have too few tiles.
constexpr attention_order make_attention_order(const attention_args& args, index_t rows_of_tile,
                                               long_index_t bytes_of_head, index_t blocks) {
  constexpr long_index_t l2_bytes = 32 << 20;
  attention_order order{ceil_div(args.queries, rows_of_tile), args.heads, args.batch, args.heads * args.batch};
  order.longest_first = args.window.right >= 0 && args.window.left < 0;
  if (order.longest_first) {
    const long_index_t shared = args.heads / args.kv_heads, fit = l2_bytes / max(bytes_of_head, long_index_t{1});
    const long_index_t wanted = order.rows <= 8 ? blocks / order.rows : max(fit, long_index_t{1}) * shared;
    order.group = index_t(min(max(wanted, long_index_t{1}), long_index_t{order.group}));
  }
  return order;
}

/// What policies of attention on Hopper have in common.
template <class T, index_t HeadDim, index_t ValueDim, class Args>
struct hopper_attention_choices : attention_choices<arch::sm90, T, HeadDim, ValueDim, Args> {
  static constexpr tilewright::arch::matrix_op op =
      sizeof(T) == 1 ? tilewright::arch::matrix_op::wgmma_k32_b8 : tilewright::arch::matrix_op::wgmma_k16;
};

#if TILEWRIGHT_HOPPER_PASS
/// work(unit) for each unit of this block.
template <class Work>
TILEWRIGHT_HD void for_each_unit_of(const attention_order& order, Work work) {
  const index_t blocks = exec::num_blocks(), block = exec::block_id().x;
  TILEWRIGHT_UNROLL(1)
  for (index_t round = 0; round < order.num_rounds(blocks); ++round) {
    const attention_unit unit = order(block, blocks, round);
    if (unit.row >= 0) work(unit);
  }
}
#endif

}  // namespace tilewright::detail
