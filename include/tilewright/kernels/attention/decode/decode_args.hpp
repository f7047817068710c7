// SPDX-License-Identifier: MIT
// Arguments of attention with few queries and a long cache of keys: lengths, pages, scales, splits.
#pragma once

#include <tilewright/core/base/block_index.hpp>
#include <tilewright/core/base/math.hpp>
#include <tilewright/kernels/attention/attention_args.hpp>

namespace tilewright {

/// attention_args for decoding. The cache of keys and values may be contiguous or paged. Each sequence has as many
/// queries, or, with query_starts, a number of its own: under window `causal` the last one sees all of its keys.
/// Strides of heads must be such that the heads that share a key head span less than 2 GiB.
struct attention_decode_args : attention_args {
  /// Keys of each sequence, at most args.keys; batch numbers in memory that the GPU can read. Null: all have args.keys,
  /// or what key_starts says.
  const index_t* key_counts = nullptr;

  /// Paged cache: keys [i * rows_per_page, (i + 1) * rows_per_page) of sequence b are page block_table[b * table_stride
  /// + i]; k_strides.batch and v_strides.batch are from page to page. Null: not paged.
  const index_t* block_table = nullptr;
  index_t table_stride = 0;   ///< pages from one sequence's row of the table to the next
  index_t rows_per_page = 0;  ///< a multiple of 16; with has_token_lists 1

  /// For a cache of 8-bit elements, which needs k_scales and v_scales: row r of key head h of page (or sequence) p is
  /// multiplied by k_scales[p * batch + h * head + r * row] with these strides. So there may be a scale for each token,
  /// page, head, or (strides of 0) one for all.
  attention_strides k_scale_strides;
  attention_strides v_scale_strides;  ///< of v_scales

  /// For latent attention with has_16_bit_rope: the columns of K that V does not have, elements of Q's type, in pages
  /// or sequences and rows as k.
  const void* k_rope = nullptr;
  attention_strides k_rope_strides;  ///< of k_rope

  /// Number of blocks that share the keys of a sequence; see choose_splits(). More than one needs a workspace. Blocks
  /// have equal shares of the keys of all sequences then: long sequences are split among more of them.
  index_t splits = 1;
  void* workspace = nullptr;  ///< of workspace_bytes(args), aligned to 16 bytes

  /// Above 0: that many blocks, instead of batch * splits, have equal shares of all keys; see choose_shares(). Needs a
  /// workspace.
  index_t shares = 0;

  /// The number of blocks that split the keys of a sequence: the smallest that keeps nearly all SMs
  /// (compute units) of the GPU busy, with at least 256 keys for each block; two or more where sequences differ in
  /// length. A cache of 8-bit elements, which has k_scales, keeps an SM busy with two blocks. rows_of_block: 64 for
  /// hopper_latent_policy.
  constexpr index_t choose_splits(index_t SMs, index_t rows_of_block = 16) const;

  /// The number of shares for sequences of different lengths: two blocks for each SM, all resident. Each piece of a
  /// sequence costs time of its own, so there are no more. Never 0. rows_of_block: as in choose_splits().
  constexpr index_t choose_shares(index_t SMs, index_t rows_of_block = 16) const;

  /// Whether blocks have equal shares of all keys.
  TILEWRIGHT_HD constexpr bool has_shares() const { return shares > 0 || splits > 1; }
  /// The number of shares for each key head and block of rows.
  TILEWRIGHT_HD constexpr index_t num_shares() const { return shares > 0 ? shares : batch * splits; }
};

namespace detail {

inline constexpr index_t decode_rows = 16, decode_keys = 16;  // of a wave's products

/// Queries times heads that share a key head: the rows that read the same keys. A block takes 16 of them.
TILEWRIGHT_HD constexpr index_t decode_rows_of(const attention_decode_args& args) {
  return args.queries * divide(args.heads, args.kv_heads);
}
TILEWRIGHT_HD constexpr index_t decode_row_blocks(const attention_decode_args& args, index_t rows = decode_rows) {
  return ceil_div(decode_rows_of(args), rows);
}

/// Blocks: of a share of the keys for each key head and part of the columns of V, and of that for each block of rows.
constexpr grid_size grid_of_decode(const attention_decode_args& args, index_t rows = decode_rows, index_t parts = 1) {
  return {args.num_shares() * args.kv_heads * parts * decode_row_blocks(args, rows), 1, 1};
}
/// Blocks of the kernel that adds up pieces: x for rows, y for key heads, z for sequences; none without shares.
constexpr grid_size grid_of_decode_combine(const attention_decode_args& args) {
  if (!args.has_shares()) return {0, 0, 0};
  return {decode_rows_of(args), args.kv_heads, args.batch};
}

/// Whether sequences may differ in the keys that their queries see.
constexpr bool is_ragged(const attention_decode_args& args) {
  return args.batch > 1 && (args.key_counts || args.key_starts || args.query_starts);
}

/// What an 8-bit cache needs, and one of 16 bits must not have.
constexpr const char* check_cache_scales(const attention_decode_args& args, index_t cache_bytes) {
  if (cache_bytes == 2)
    return args.k_scales || args.v_scales ? "k_scales and v_scales are for a cache of 8-bit elements" : nullptr;
  if (args.keys > 0 && (!args.k_scales || !args.v_scales))
    return "a cache of 8-bit elements needs k_scales and v_scales";
  const index_t most = 1 << 24;
  if (args.k_scale_strides.row < 0 || args.k_scale_strides.row > most || args.v_scale_strides.row < 0 ||
      args.v_scale_strides.row > most)
    return "scales are from 0 to 2^24 floats apart from row to row";
  return nullptr;
}

/// What is wrong with the pages of a cache, or with the rows that a table lists for a kernel that takes those.
constexpr const char* check_pages(const attention_decode_args& args, bool takes_rows) {
  if (takes_rows && (!args.block_table || args.rows_per_page != 1))
    return "has_token_lists: the kernel takes a block_table of rows, with rows_per_page = 1";
  if (!args.block_table) return nullptr;
  if (args.key_starts) return "a paged cache has no key_starts; give key_counts";
  if (!takes_rows && (args.rows_per_page < 16 || args.rows_per_page % 16 != 0))
    return "rows_per_page must be a positive multiple of 16";
  return args.table_stride < ceil_div(args.keys, args.rows_per_page)
             ? "table_stride is smaller than the number of pages of the longest sequence"
             : nullptr;
}

/// What else a kernel takes: a table of rows (see check_pages), and that many columns of k_rope.
struct decode_takes {
  bool rows = false;
  index_t rope_columns = 0;
};

constexpr const char* check_rope(const attention_decode_args& args, index_t columns) {
  if (!args.k_rope != !columns)
    return columns ? "k_rope is null" : "k_rope is for a policy of latent attention with has_16_bit_rope";
  const attention_strides& s = args.k_rope_strides;
  if (columns && (!is_aligned(args.k_rope) || s.batch % 8 != 0 || s.head % 8 != 0 || s.row % 8 != 0 || s.row < columns))
    return "k_rope must be aligned to 16 bytes, its strides be multiples of 8, and its rows not overlap";
  return nullptr;
}

/// What attention_decode cannot do with these arguments and a cache of elements of cache_bytes.
constexpr const char* check_decode(const attention_decode_args& args, index_t head_dim, index_t value_dim,
                                   index_t cache_bytes, const decode_takes& takes = {}) {
  attention_args unscaled = args;
  unscaled.k_scales = unscaled.v_scales = nullptr;
  if (const char* why = check_attention(unscaled, head_dim - takes.rope_columns, value_dim, 8, 16 / cache_bytes))
    return why;
  if (args.q_strides.row < head_dim) return "q's row stride is smaller than the head dimension";
  if (const char* why = check_cache_scales(args, cache_bytes)) return why;
  if (args.key_counts && args.key_starts) return "give either key_counts or key_starts";
  if (const char* why = check_pages(args, takes.rows)) return why;
  if (const char* why = check_rope(args, takes.rope_columns)) return why;
  if (args.splits < 1 || args.splits > 1024) return "splits must be 1 to 1024";
  if (args.shares < 0 || args.shares > 1 << 24) return "shares must be 0 to 2^24";
  if ((long_index_t{args.batch} * (args.splits + 1) + args.shares) * args.kv_heads * decode_row_blocks(args) >
          0x7fffffff / (value_dim > 256 ? 4 : 1) ||
      long_index_t{args.batch} * (ceil_div(args.keys, decode_keys) + 1) > 0x7fffffff)
    return "there are too many blocks, or keys in all sequences; use several launches";
  if (args.has_shares() && !args.workspace)
    return "more than one split, or shares, need a workspace, of workspace_bytes(args)";
  if (args.has_shares() && !is_aligned(args.workspace)) return "the workspace is not aligned to 16 bytes";
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
constexpr index_t attention_decode_args::choose_splits(index_t SMs, index_t rows_of_block) const {
  SMs = max(SMs, 1);
  const long_index_t resident = long_index_t(SMs) * (k_scales ? 2 : 1);
  const long_index_t blocks = long_index_t(batch) * kv_heads * detail::decode_row_blocks(*this, rows_of_block);
  const index_t most = max(1, min(min(keys / 256, 1024), SMs)), least = min(most, detail::is_ragged(*this) ? 2 : 1);
  const auto busy = [&](index_t number) {
    const long_index_t rounds = (blocks * number + resident - 1) / resident;
    return float(blocks * number) / float(rounds * resident);
  };
  float best = 0;
  for (index_t s = least; s <= most; ++s) best = max(best, busy(s));
  index_t number = least;
  while (busy(number) < 0.95f * best) ++number;
  return number;
}

/// Two blocks for each SM: a third would run alone.
constexpr index_t attention_decode_args::choose_shares(index_t SMs, index_t rows_of_block) const {
  const long_index_t of_share = long_index_t(kv_heads) * detail::decode_row_blocks(*this, rows_of_block),
                     most = long_index_t(batch) * max(keys / 256, 1);
  return index_t(max(min(2 * long_index_t(max(SMs, 1)) / of_share, most), long_index_t{1}));
}

/// Bytes that attention_decode_args::workspace must have, for heads of `value_dim` elements.
constexpr long_index_t workspace_bytes(const attention_decode_args& args, index_t value_dim) {
  const long_index_t rows = (long_index_t(args.num_shares()) + args.batch) * args.heads * args.queries;
  return args.has_shares() ? (rows * (value_dim + 1) + 2 * args.batch) * 4 : 0;
}

}  // namespace tilewright
