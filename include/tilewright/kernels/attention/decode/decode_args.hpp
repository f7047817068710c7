// SPDX-License-Identifier: MIT
// Arguments of attention with few queries and a long cache of keys: lengths, pages, parts.
#pragma once

#include <tilewright/core/base/block_index.hpp>
#include <tilewright/core/base/math.hpp>
#include <tilewright/kernels/attention/attention_args.hpp>

namespace tilewright {

/// attention_args for decoding. The cache of keys and values may be contiguous or paged. Strides of heads must be such
/// that the heads that share a key head span less than 2 GiB.
struct attention_decode_args : attention_args {
  /// Keys of each sequence, at most args.keys; batch numbers in memory that the GPU can read. Null: all have args.keys,
  /// or what key_starts says.
  const index_t* key_counts = nullptr;

  /// Paged cache: keys [i * rows_per_page, (i + 1) * rows_per_page) of sequence b are page block_table[b * table_stride
  /// + i]; k_strides.batch and v_strides.batch are from page to page. Null: not paged.
  const index_t* block_table = nullptr;
  index_t table_stride = 0;   ///< pages from one sequence's row of the table to the next
  index_t rows_per_page = 0;  ///< a multiple of 16

  /// Number of blocks that share the keys of a sequence; see choose_splits(). More than one needs a workspace.
  index_t splits = 1;
  void* workspace = nullptr;  ///< of workspace_bytes(args), aligned to 16 bytes

  /// The number of blocks that split the keys of a sequence: the smallest that keeps nearly all SMs
  /// (compute units) of the GPU busy, with at least 256 keys for each block.
  constexpr index_t choose_splits(index_t SMs) const;
};

namespace detail {

inline constexpr index_t decode_rows = 16, decode_keys = 16;  // of a wave's products

/// Queries times heads that share a key head: the rows that read the same keys. A block takes 16 of them.
TILEWRIGHT_HD constexpr index_t decode_rows_of(const attention_decode_args& args) {
  return args.queries * divide(args.heads, args.kv_heads);
}
TILEWRIGHT_HD constexpr index_t decode_row_blocks(const attention_decode_args& args) {
  return ceil_div(decode_rows_of(args), decode_rows);
}

/// Blocks: x for splits and rows, y for key heads, z for sequences.
constexpr grid_size grid_of_decode(const attention_decode_args& args) {
  return {args.splits * decode_row_blocks(args), args.kv_heads, args.batch};
}
/// Blocks of the kernel that adds up the splits: x for rows, y for key heads, z for sequences; none for one split.
constexpr grid_size grid_of_decode_combine(const attention_decode_args& args) {
  if (args.splits == 1) return {0, 0, 0};
  return {decode_rows_of(args), args.kv_heads, args.batch};
}

/// What attention_decode cannot do with these arguments, beyond check_attention.
constexpr const char* check_decode(const attention_decode_args& args) {
  if (args.query_starts) return "attention_decode: all sequences have equally many queries; leave query_starts null";
  if (args.key_counts && args.key_starts) return "give either key_counts or key_starts";
  if (args.block_table && args.key_starts) return "a paged cache has no key_starts; give key_counts";
  if (args.block_table && (args.rows_per_page < 16 || args.rows_per_page % 16 != 0))
    return "rows_per_page must be a positive multiple of 16";
  if (args.block_table && args.table_stride < ceil_div(args.keys, args.rows_per_page))
    return "table_stride is smaller than the number of pages of the longest sequence";
  if (args.splits < 1 || args.splits > 1024) return "splits must be 1 to 1024";
  if (args.splits > 1 && !args.workspace) return "more than one split needs a workspace, of workspace_bytes(args)";
  if (args.splits > 1 && !is_aligned(args.workspace)) return "the workspace is not aligned to 16 bytes";
  if (args.q_strides.head < 0 || args.o_strides.head < 0 || args.o_strides.batch < 0 ||
      (args.lse && (args.lse_strides.head < 0 || args.lse_strides.batch < 0)))
    return "attention_decode: a stride of Q's heads, of O or of lse is negative";
  const long_index_t group = args.heads / args.kv_heads, most = 0x3fffffff;
  const auto too_far = [&](const attention_strides& s) {
    return group * s.head + long_index_t(args.queries) * s.row > most;
  };
  if (too_far(args.q_strides) || too_far(args.o_strides)) return "heads that share a key head span 2 GiB or more";
  return nullptr;
}

}  // namespace detail

/// Splits of the keys that keep this many SMs busy: at least 1, at most one for 256 keys. 0: unknown.
constexpr index_t attention_decode_args::choose_splits(index_t SMs) const {
  SMs = max(SMs, 1);
  const long_index_t blocks = long_index_t(batch) * kv_heads * detail::decode_row_blocks(*this);
  const index_t most = max(1, min(min(keys / 256, 1024), SMs));
  const auto busy = [&](index_t number) {
    const long_index_t rounds = (blocks * number + SMs - 1) / SMs;
    return float(blocks * number) / float(rounds * SMs);
  };
  float best = 0;
  for (index_t s = 1; s <= most; ++s) best = max(best, busy(s));
  index_t number = 1;
  while (busy(number) < 0.95f * best) ++number;
  return number;
}

/// Bytes that attention_decode_args::workspace must have, for heads of `value_dim` elements.
constexpr long_index_t workspace_bytes(const attention_decode_args& args, index_t value_dim) {
  const long_index_t rows = long_index_t(args.batch) * args.heads * args.queries;
  return args.splits > 1 ? rows * args.splits * (value_dim + 1) * 4 : 0;
}

}  // namespace tilewright
