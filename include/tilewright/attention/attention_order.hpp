// SPDX-License-Identifier: MIT
// The order in which persistent blocks take their rows of Q: heads whose K and V fit in the L2 cache together, rows
// that see most keys first.
#pragma once

#include <tilewright/attention/attention_args.hpp>
#include <tilewright/util/math.hpp>

namespace tilewright::detail {

/// A block's share of a launch at a time: tile `row` of a head of a sequence.
struct attention_unit {
  index_t row, head, batch;
};

/// Heads, counted over all sequences, are walked in groups; within a group the heads change fastest.
struct attention_order {
  index_t rows = 1, heads = 1, batch = 1;  // tiles of a head; heads of a sequence; sequences
  index_t group = 1;                       // heads
  bool longest_first = false;              // the last rows see most keys

  TILEWRIGHT_HD constexpr index_t num_units() const { return rows * heads * batch; }

  TILEWRIGHT_HD constexpr attention_unit operator()(index_t u) const {
    const index_t first_head = divide(u, group * rows) * group, in_group = u - first_head * rows;
    const index_t width = min(group, heads * batch - first_head);
    const index_t row = divide(in_group, width), head = first_head + in_group - row * width;
    const index_t b = divide(head, heads);
    return {longest_first ? rows - 1 - row : row, head - b * heads, b};
  }

  /// The unit that block `block` of `blocks` takes in a round; num_units() or more: none. Rounds go to and fro, so that
  /// no block gets the longest of each.
  TILEWRIGHT_HD constexpr index_t unit_of(index_t block, index_t blocks, index_t round) const {
    return round * blocks + (longest_first && round % 2 == 1 ? blocks - 1 - block : block);
  }
};

/// `bytes_of_head`: of K and V of a head's keys. The L2 cache should hold those of a group.
constexpr attention_order make_attention_order(const attention_args& args, index_t rows_of_tile,
                                               long_index_t bytes_of_head) {
  constexpr long_index_t l2_bytes = 32 << 20;
  attention_order order{ceil_div(args.queries, rows_of_tile), args.heads, args.batch};
  order.longest_first = args.window.right >= 0 && args.window.left < 0;
  if (order.longest_first) {
    const long_index_t shared = args.heads / args.kv_heads, fit = l2_bytes / max(bytes_of_head, long_index_t{1});
    order.group = index_t(min(max(fit, long_index_t{1}) * shared, long_index_t{args.heads} * args.batch));
  }
  return order;
}

}  // namespace tilewright::detail
