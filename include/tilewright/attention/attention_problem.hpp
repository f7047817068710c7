// SPDX-License-Identifier: MIT
// What one block of an attention kernel works on: its rows of Q, the keys that they see, and where they lie.
#pragma once

#include <tilewright/attention/attention_args.hpp>
#include <tilewright/util/math.hpp>

namespace tilewright::detail {

/// Half-open range.
struct index_range {
  index_t first = 0, last = 0;
};

/// Where the rows of a sequence begin in a tensor: a batch's at a multiple of its stride, packed ones at a row.
struct sequence_start {
  index_t batch;
  long_index_t row;
};

/// One head of one sequence, and a block's first query there.
struct attention_problem {
  index_t batch, head, kv_head;
  index_t queries, keys;  // of this sequence
  sequence_start query_start, key_start;
  index_t first_query;    // of the block
  float score_scale = 1;  // what products of 8-bit elements of Q and K are multiplied by
  float value_scale = 1;  // what those of V are

  /// The query and the head of one of the block's rows.
  TILEWRIGHT_HD constexpr index_t query_of(index_t row) const { return first_query + row; }
  TILEWRIGHT_HD constexpr index_t head_of(index_t) const { return head; }

  /// Key minus query of the last of each: the ends are aligned.
  TILEWRIGHT_HD constexpr index_t diagonal() const { return keys - queries; }

  TILEWRIGHT_HD constexpr index_t first_key(const attention_window& w, index_t query) const {
    return w.left < 0 ? 0 : max(0, query + diagonal() - min(w.left, keys));
  }
  TILEWRIGHT_HD constexpr index_t last_key(const attention_window& w, index_t query) const {
    return w.right < 0 ? keys : max(0, min(keys, query + diagonal() + 1 + min(w.right, queries)));
  }
  /// Keys that any of the queries [first_query, first_query + count) sees.
  TILEWRIGHT_HD constexpr index_range seen_by_any(const attention_window& w, index_t count) const {
    const index_t last_query = min(queries, first_query + count) - 1;
    const index_t first = first_key(w, first_query), last = last_key(w, last_query);
    return {first, max(first, last)};
  }
  /// Keys that all of them see; steps inside of it need no mask.
  TILEWRIGHT_HD constexpr index_range seen_by_all(const attention_window& w, index_t count) const {
    return {first_key(w, first_query + count - 1), last_key(w, first_query)};
  }
};

/// The factor of the elements of a head.
TILEWRIGHT_HD float scale_of_head(const float* scales, index_t batch, index_t heads, index_t head) {
  return scales == nullptr ? 1.0f : scales[long_index_t(batch) * heads + head];
}

/// The problem of a block. `first_query` may be past the last: sequences can be shorter than the longest.
TILEWRIGHT_HD attention_problem locate_attention(const attention_args& args, index_t first_query, index_t head,
                                                 index_t batch) {
  attention_problem p{batch,        head,       divide(head, divide(args.heads, args.kv_heads)),
                      args.queries, args.keys,  {batch, 0},
                      {batch, 0},   first_query};
  if (args.query_starts != nullptr) {
    p.query_start = {0, args.query_starts[batch]};
    p.queries = args.query_starts[batch + 1] - index_t(p.query_start.row);
  }
  if (args.key_starts != nullptr) {
    p.key_start = {0, args.key_starts[batch]};
    p.keys = args.key_starts[batch + 1] - index_t(p.key_start.row);
  }
  p.score_scale = scale_of_head(args.q_scales, batch, args.heads, head) *
                  scale_of_head(args.k_scales, batch, args.kv_heads, p.kv_head);
  p.value_scale = scale_of_head(args.v_scales, batch, args.kv_heads, p.kv_head);
  return p;
}

/// Elements from a tensor's start to the first row of a head of a sequence.
TILEWRIGHT_HD constexpr long_index_t offset_of_head(const attention_strides& s, const sequence_start& start,
                                                    index_t head) {
  return start.row * s.row + start.batch * s.batch + head * s.head;
}

/// Rows of a head of a sequence in memory.
template <class T>
struct head_rows {
  T* data;
  index_t stride, count;
};
template <class T, class Data>
TILEWRIGHT_HD head_rows<T> query_rows(Data* data, const attention_strides& s, const attention_problem& p) {
  return {static_cast<T*>(data) + offset_of_head(s, p.query_start, p.head), s.row, p.queries};
}
template <class T, class Data>
TILEWRIGHT_HD head_rows<T> key_rows(Data* data, const attention_strides& s, const attention_problem& p) {
  return {static_cast<T*>(data) + offset_of_head(s, p.key_start, p.kv_head), s.row, p.keys};
}

}  // namespace tilewright::detail
