// SPDX-License-Identifier: MIT
// Shares: the keys of all sequences, one after the other in steps of 16, divided equally among the blocks of
// attention_decode.
#pragma once

#include <tilewright/kernels/attention/decode/decode_tiles.hpp>
#include <tilewright/tile/registers/scan.hpp>

namespace tilewright::detail {

/// A block's problem: `first_row` of the rows that share key head `kv_head`.
TILEWRIGHT_HD decode_problem locate_decode(const attention_decode_args& args, index_t first_row, index_t kv_head,
                                           index_t batch) {
  const index_t group = divide(args.heads, args.kv_heads);
  decode_problem p{locate_rows(args, divide(first_row, group), kv_head * group, batch), group, first_row, 0};
  p.rows = p.queries * group;
  if (args.key_counts != nullptr) p.keys = args.key_counts[batch];
  return p;
}

/// The steps of a sequence: of the keys that any of its queries sees. At least one, so that a block writes the results
/// of rows that see nothing.
struct sequence_steps {
  index_t first_key, count;

  TILEWRIGHT_HD sequence_steps(const attention_decode_args& args, index_t batch) {
    const decode_problem p = locate_decode(args, 0, 0, batch);
    const index_range seen = p.seen_by_any(args.window, max(p.queries, 1));
    first_key = seen.first & -decode_keys;
    count = p.queries > 0 ? max(ceil_div(seen.last - first_key, decode_keys), 1) : 1;
  }
};

/// A piece of a share: steps [first, first + count) of one sequence.
///
///   sequence  |   0   |        1        | 2 |    3    |
///   share     |  0  |  1  |  2  |  3  |  4  |  5  |  6  |    pieces (share, sequence): 0 0, 1 0, 1 1, 2 1, 3 1, ...
///
/// share + sequence grows by at least one from piece to piece, so it numbers the partial results.
struct decode_piece {
  index_t batch, first, left;  // left: steps of the share from here on
  sequence_steps of;

  TILEWRIGHT_HD decode_piece(const attention_decode_args& args, index_t in, index_t first_step, index_t steps)
      : batch(in), first(first_step), left(steps), of(args, in) {}

  TILEWRIGHT_HD index_t count() const { return min(left, of.count - first); }
  TILEWRIGHT_HD bool begins() const { return first == 0; }
  TILEWRIGHT_HD bool ends() const { return first + left >= of.count; }
  TILEWRIGHT_HD bool is_whole() const { return begins() && ends(); }
  /// The share's next piece; false: there is none.
  TILEWRIGHT_HD bool advance(const attention_decode_args& args) {
    left -= count();
    if (left == 0) return false;
    first = 0;
    of = sequence_steps(args, ++batch);
    return true;
  }
};

/// The first piece of a share. Unless args.has_shares() each sequence is a share. All lanes of the wave call it: they
/// add up the steps of sequences.
template <index_t WaveSize>
TILEWRIGHT_HD decode_piece locate_share(const attention_decode_args& args, index_t share) {
  if (!args.has_shares()) return {args, share, 0, sequence_steps(args, share).count};
  const index_t lane = exec::lane_id();
  const auto steps_up_to = [&](index_t first) TILEWRIGHT_INLINE_LAMBDA {  // of sequences first to first + lane
    const index_t batch = first + lane;
    return scan_lanes<1, WaveSize>(batch < args.batch ? sequence_steps(args, batch).count : 0, lane, plus);
  };
  index_t all = 0;
  for (index_t first = 0; first < args.batch; first += WaveSize)
    all += exec::broadcast(steps_up_to(first), WaveSize - 1);
  const index_t shares = args.num_shares(), of_each = divide(all, shares), more = all - of_each * shares;
  const index_t begin = of_each * share + min(share, more), steps = of_each + (share < more ? 1 : 0);
  index_t before = 0, first = 0;
  for (;; first += WaveSize) {
    const index_t end = before + steps_up_to(first), last = exec::broadcast(end, WaveSize - 1);
    if (begin < last || first + WaveSize >= args.batch) {
      const index_t skipped = WaveSize - exec::count_lanes(exec::ballot(end > begin));
      if (skipped > 0) before = exec::broadcast(end, max(skipped - 1, 0));
      return {args, min(first + skipped, args.batch - 1), begin - before, steps};
    }
    before = last;
  }
}

}  // namespace tilewright::detail
