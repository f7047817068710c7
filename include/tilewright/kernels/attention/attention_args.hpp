// SPDX-License-Identifier: MIT
// Arguments of the attention kernels: tensors, lengths, masks; their checks; and what one block works on:
// its rows of Q, the keys that they see, and where they lie.
#pragma once

#include <tilewright/core/base/bits.hpp>
#include <tilewright/core/base/math.hpp>
#include <tilewright/core/base/type_traits.hpp>
#include <tilewright/core/base/types.hpp>
#include <tilewright/launch/check_memory.hpp>

namespace tilewright {

/// Strides in elements. The head dimension is contiguous, so both (batch, row, head, dim) and (batch, head, row, dim)
/// can be described.
struct attention_strides {
  long_index_t batch = 0, head = 0;  ///< from sequence to sequence, from head to head
  index_t row = 0;                   ///< from row to row
};

/// Which keys a query sees. Query i of L and key j of S are aligned at their ends: i sees j if
/// -left <= j - (i + S - L) <= right. A negative number: no limit on that side.
struct attention_window {
  index_t left = -1, right = -1;  ///< keys before and after the query's own that it sees
};
/// Each query sees the keys up to its own position, counted from the ends.
inline constexpr attention_window causal{-1, 0};

/// Which tiles of queries and keys are computed, beside the window: scores of the others are masked, and steps of keys
/// in which no row of a block sees a key are skipped. Tiles are counted from the first query and key of a sequence.
struct attention_block_mask {
  index_t queries = 128, keys = 128;  ///< of a tile: powers of two from 16 to 2^20
  /// (batch, heads, tiles of queries, words), in memory that the GPU can read: bit j % 32 of word j / 32 of a row is
  /// tile j of keys. Null: no mask. Not null exactly where the policy has has_block_mask.
  const unsigned* bits = nullptr;
  attention_strides strides;  ///< of words; a batch or head stride of 0: one mask for all
};

/// O = softmax(scale Q K^T + mask) V for each head of each sequence. Queries of a sequence that see no key get zeros,
/// and -infinity as their log-sum-exp.
struct attention_args {
  const void* q = nullptr;  ///< (batch, heads, queries, head dimension); aligned to 16 bytes, as are k, v and o
  const void* k = nullptr;  ///< (batch, kv_heads, keys, head dimension)
  const void* v = nullptr;  ///< (batch, kv_heads, keys, value dimension)
  void* o = nullptr;        ///< result: (batch, heads, queries, value dimension)
  float* lse = nullptr;     ///< optional: natural logarithm of the sum of exponentials; lse_strides says where

  index_t batch = 1, heads = 1, kv_heads = 1;  ///< heads / kv_heads neighbouring query heads share a key head
  index_t queries = 0, keys = 0;               ///< rows of each sequence; with starts: of the longest
  attention_strides q_strides, k_strides, v_strides, o_strides;  ///< rows are multiples of 16 bytes
  attention_strides lse_strides;  ///< element (batch, head, query) of lse; lse_strides.row: from query to query

  /// Sequences of different lengths: rows starts[b] to starts[b + 1] - 1 of one tensor belong to sequence b; batch + 1
  /// numbers in memory that the GPU can read. Batch strides do not count then. Null: all have the lengths above.
  const index_t* query_starts = nullptr;
  const index_t* key_starts = nullptr;  ///< of K and V; null exactly where query_starts is

  /// Sinks: a score for each query head, [heads] numbers below infinity in memory that the GPU can read. It counts in
  /// the sum of each row's exponentials, as that of a key whose value is zero; `scale` does not apply. Null: none.
  const float* sinks = nullptr;

  float scale = 1;          ///< of the scores, before the mask
  attention_window window;  ///< the mask; by default none

  /// 8-bit elements: what those of a head are multiplied by, [batch * heads] floats of Q and [batch * kv_heads] of K
  /// (positive) and V, in memory that the GPU can read; null: 1. O has the policy's result_type, bfloat16_t if it names
  /// no other.
  const float* q_scales = nullptr;
  const float* k_scales = nullptr;  ///< of K
  const float* v_scales = nullptr;  ///< of V

  attention_block_mask block_mask;  ///< of forward and gradients; by default none
};

/// Where a score is. A policy's score_function is applied to the scaled scores before the mask: called for each, it
/// returns the new one, and may read the kernel's arguments: (float, const score_position&, const args&).
struct score_position {
  /// Numbers of the sequence, its head, the row of Q in the sequence and the row of K.
  index_t batch, head, query, key;
};

namespace detail {

/// Leaves the scores alone and costs nothing.
struct no_score_function {};
template <class Policy>
inline constexpr bool has_score_function = !__is_same(typename Policy::score_function, no_score_function);

/// Into how many equal parts V and O of a head are divided by columns: O of a block must fit in its registers.
TILEWRIGHT_HD constexpr index_t parts_of_values(index_t value_dim) { return value_dim > 256 ? 2 : 1; }

/// What all policies of attention name.
template <class Arch, class T, index_t HeadDim, index_t ValueDim, class Args>
struct attention_choices {
  using arch = Arch;
  using element_type = T;
  using input_type = T;  ///< elements of Q, K and V in memory; policies of gradients may replace it
  using result_type = conditional_t<sizeof(T) == 1, bfloat16_t, T>;
  using score_function = no_score_function;
  using args_type = Args;
  static constexpr bool has_block_mask = false;  ///< whether the kernel takes args.block_mask, and no arguments without
  static constexpr index_t head_dim = HeadDim, value_dim = ValueDim, vector = 16 / index_t(sizeof(T));
  static constexpr index_t value_parts = parts_of_values(ValueDim), value_columns = ValueDim / value_parts;
};

/// Whether rows, heads or sequences of a result may overwrite each other. With starts there is one sequence, and `rows`
/// is at most its number.
constexpr bool is_written_twice(const attention_strides& s, bool has_starts, index_t rows, index_t heads, index_t batch,
                                index_t dim) {
  const long_index_t lengths[]{has_starts ? min(rows, 2) : rows, heads, has_starts ? 1 : batch},
      strides[]{s.row, max(s.head, -s.head), max(s.batch, -s.batch)};
  return has_shared_elements(3, lengths, strides, dim);
}
inline constexpr char written_twice[] =
    "a result's heads or sequences lie in the same memory: give its head and batch strides";

/// Why a kernel that takes a block mask, or takes none, cannot have this one, as an error message; nullptr: it can.
constexpr const char* check_block_mask(const attention_args& args, bool takes_mask) {
  const attention_block_mask& m = args.block_mask;
  if (!m.bits != !takes_mask)
    return takes_mask
               ? "block_mask.bits is null; use a policy without has_block_mask"
               : "this kernel takes no block mask; attention_forward and attention_backward do, with a policy that has "
                 "has_block_mask";
  if (!takes_mask) return nullptr;
  for (const index_t rows : {m.queries, m.keys})
    if (rows < 16 || rows > 1 << 20 || !is_power_of_two(rows))
      return "the tiles of a block mask have queries and keys of powers of two from 16 to 2^20";
  return m.strides.row < ceil_div(ceil_div(args.keys, m.keys), 32)
             ? "a row of the block mask has fewer words than the keys need: a bit for each tile"
             : nullptr;
}

/// What a kernel that moves vectors of `vector` elements, 8 of 16 bits or 16 of 8 bits, and of `kv_vector` elements of
/// K and V, cannot do with these arguments, as an error message; nullptr: it can. O has 16-bit elements. takes_mask:
/// see check_block_mask.
constexpr const char* check_attention_tensors(const attention_args& args, index_t head_dim, index_t value_dim,
                                              index_t vector, index_t kv_vector, bool takes_mask) {
  if (args.batch < 1 || args.heads < 1 || args.kv_heads < 1 || args.queries < 1 || args.keys < 0)
    return "batch, heads, kv_heads and queries must be positive, and keys must not be negative";
  if (args.heads % args.kv_heads != 0) return "heads must be a multiple of kv_heads: each key head serves equally many";
  if (args.heads > 65535 || args.batch > 65535)
    return "there are more than 65535 heads or sequences; use several launches";
  if (long_index_t{args.queries} + args.keys > 0x7fffffff - 1024) return "queries + keys is too close to 2^31";
  if (!(args.scale > 0)) return "the scale must be positive: the softmax is computed from the largest unscaled score";
  if (args.scale >= 0x1p127f) return "the scale must be less than 2^127: times log2(e) it must be a finite float";
  if (!args.q || !args.o || (args.keys > 0 && (!args.k || !args.v))) return "a pointer is null: q, k, v or o";
  if (vector == 8 && (args.q_scales || args.k_scales || args.v_scales))
    return "q_scales, k_scales and v_scales are for 8-bit elements; they must be null for 16-bit ones";
  const auto misfit = [&](const void* data, const attention_strides& s, index_t dim, index_t elements) {
    if (!is_aligned(data) || s.batch % elements != 0 || s.head % elements != 0 || s.row % elements != 0) return 1;
    return s.row < dim || s.row > 0x7fffffff / 2048 ? 2 : 0;
  };
  const int of_tensors[] = {
      misfit(args.q, args.q_strides, head_dim, vector), misfit(args.k, args.k_strides, head_dim, kv_vector),
      misfit(args.v, args.v_strides, value_dim, kv_vector), misfit(args.o, args.o_strides, value_dim, min(vector, 8))};
  for (const int misfit_of : of_tensors) {
    if (misfit_of == 1)
      return kv_vector == 8
                 ? "vectors of 16 bytes are moved: pointers must be aligned to 16 bytes, strides be multiples of 8"
                 : "vectors of 16 bytes are moved: pointers must be aligned to 16 bytes, strides be multiples of 16, "
                   "those of 16-bit elements of 8";
    if (misfit_of == 2) return "a row stride is smaller than the head dimension, or so large that a step spans 2 GiB";
  }
  if (args.lse && args.lse_strides.row < 1) return "lse_strides.row must be positive";
  return check_block_mask(args, takes_mask);
}

/// What check_attention_tensors says, for a kernel that writes O and LSE. K and V are as Q where kv_vector is 0.
constexpr const char* check_attention(const attention_args& args, index_t head_dim, index_t value_dim, index_t vector,
                                      index_t kv_vector = 0, bool takes_mask = false) {
  if (const char* why =
          check_attention_tensors(args, head_dim, value_dim, vector, kv_vector ? kv_vector : vector, takes_mask))
    return why;
  if (!__builtin_is_constant_evaluated() && args.keys > 0 && (args.o == args.k || args.o == args.v))
    return "O is K or V, which other blocks still read; write it to other memory";
  const auto overlaps = [&](const attention_strides& s, index_t dim) {
    return is_written_twice(s, args.query_starts, args.queries, args.heads, args.batch, dim);
  };
  return overlaps(args.o_strides, value_dim) || (args.lse && overlaps(args.lse_strides, 1)) ? written_twice : nullptr;
}

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
  index_t first_query;       // of the block
  float score_scale = 1;     // what products of 8-bit elements of Q and K are multiplied by
  float value_scale = 1;     // what those of V are
  index_t first_column = 0;  // of V and O, where a block has a part of them

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

/// A head's sink as an exponent of 2; -infinity, which adds nothing to a sum of exponentials, where there is none.
TILEWRIGHT_HD float sink_of_head(const attention_args& args, index_t head) {
  return args.sinks == nullptr ? minus_infinity() : args.sinks[head] * log2_e;
}

/// Where a block's rows and their keys are. `first_query` may be past the last: sequences can be shorter than the
/// longest.
TILEWRIGHT_HD attention_problem locate_rows(const attention_args& args, index_t first_query, index_t head,
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
  return p;
}

/// The same with the scales of 8-bit elements of a head.
TILEWRIGHT_HD attention_problem locate_attention(const attention_args& args, index_t first_query, index_t head,
                                                 index_t batch) {
  attention_problem p = locate_rows(args, first_query, head, batch);
  p.score_scale = scale_of_head(args.q_scales, batch, args.heads, head) *
                  scale_of_head(args.k_scales, batch, args.kv_heads, p.kv_head);
  p.value_scale = scale_of_head(args.v_scales, batch, args.kv_heads, p.kv_head);
  return p;
}

/// The same of a part of a head's columns of V and O. Parts of all heads are numbered.
template <class Policy>
TILEWRIGHT_HD attention_problem locate_part(const attention_args& args, index_t first_query, index_t part,
                                            index_t batch) {
  if constexpr (Policy::value_parts == 1) return locate_attention(args, first_query, part, batch);
  const index_t head = divide(part, Policy::value_parts);
  attention_problem p = locate_attention(args, first_query, head, batch);
  p.first_column = (part - head * Policy::value_parts) * Policy::value_columns;
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
template <class T>
TILEWRIGHT_HD head_rows<T> columns_from(const head_rows<T>& rows, index_t column) {
  return {rows.data + column, rows.stride, rows.count};
}
template <class T, class Data>
TILEWRIGHT_HD head_rows<T> query_rows(Data* data, const attention_strides& s, const attention_problem& p) {
  return {static_cast<T*>(data) + offset_of_head(s, p.query_start, p.head), s.row, p.queries};
}
template <class T, class Data>
TILEWRIGHT_HD head_rows<T> key_rows(Data* data, const attention_strides& s, const attention_problem& p) {
  return {static_cast<T*>(data) + offset_of_head(s, p.key_start, p.kv_head), s.row, p.keys};
}

}  // namespace detail

}  // namespace tilewright
