// SPDX-License-Identifier: MIT
// The steps of keys of a block of queries, with a block mask those that any of its rows sees.
#pragma once

#include <tilewright/core/base/math.hpp>
#include <tilewright/kernels/attention/attention_args.hpp>

namespace tilewright::detail {

/// The block mask of a head of a sequence.
struct head_block_mask {
  const unsigned* bits;
  index_t row_stride, words;  // from row to row, and those of a row that count
  index_t query_shift, key_shift;

  TILEWRIGHT_HD head_block_mask(const attention_args& args, const attention_problem& p)
      : bits(args.block_mask.bits + p.batch * args.block_mask.strides.batch + p.head * args.block_mask.strides.head),
        row_stride(args.block_mask.strides.row),
        query_shift(lowest_set_bit(unsigned(args.block_mask.queries))),
        key_shift(lowest_set_bit(unsigned(args.block_mask.keys))) {
    words = ((p.keys - 1) >> (key_shift + 5)) + 1;
  }

  /// A bit for each of the 32 tiles of keys from `tile` on, of a row of tiles.
  TILEWRIGHT_HD unsigned tiles_of_row(index_t row, index_t tile) const {
    const unsigned* const from = bits + long_index_t(row) * row_stride;
    const index_t word = tile >> 5;
    const unsigned low = word < words ? from[word] : 0, high = word + 1 < words ? from[word + 1] : 0;
    return unsigned((static_cast<unsigned long long>(high) << 32 | low) >> (tile & 31));
  }
  TILEWRIGHT_HD unsigned tiles_of_query(index_t query, index_t tile) const {
    return tiles_of_row(query >> query_shift, tile);
  }
  /// The tiles that any of the queries [first, last) sees, or that all of them see.
  template <bool Any>
  TILEWRIGHT_HD unsigned tiles_of_queries(index_t first, index_t last, index_t tile) const {
    unsigned tiles = Any ? 0 : ~0u;
    for (index_t row = first >> query_shift; row <= (last - 1) >> query_shift; ++row) {
      const unsigned own = tiles_of_row(row, tile);
      tiles = Any ? tiles | own : tiles & own;
    }
    return tiles;
  }
  /// Whether all of the queries see all of the keys, which are in 32 tiles at most.
  TILEWRIGHT_HD bool is_seen(index_range queries, index_range keys) const {
    const index_t tile = keys.first >> key_shift;
    return (~tiles_of_queries<false>(queries.first, queries.last, tile) << tiles_left(keys)) == 0;
  }
  /// Whether any of the queries sees any of the keys, which are in 32 tiles at most, and whether all see all of them.
  struct view {
    bool of_any, of_all;
  };
  TILEWRIGHT_HD view view_of(index_range queries, index_range keys) const {
    unsigned any = 0, all = ~0u;
    TILEWRIGHT_UNROLL(1)
    for (index_t row = queries.first >> query_shift; row << query_shift < queries.last; ++row) {
      const unsigned tiles = tiles_of_row(row, keys.first >> key_shift);
      any |= tiles;
      all &= tiles;
    }
    return {any << tiles_left(keys) != 0, ~all << tiles_left(keys) == 0};
  }
  /// The first of the queries in a tile that sees any of the keys, which are in 32 tiles at most; else queries.last.
  TILEWRIGHT_HD index_t first_that_sees(index_range queries, index_range keys) const {
    for (index_t row = queries.first >> query_shift; row << query_shift < queries.last; ++row)
      if (tiles_of_row(row, keys.first >> key_shift) << tiles_left(keys) != 0)
        return max(queries.first, row << query_shift);
    return queries.last;
  }

 private:
  /// Of 32 tiles from the first of the keys on, how many come after their last.
  TILEWRIGHT_HD index_t tiles_left(index_range keys) const {
    return 31 - (((max(keys.last, keys.first + 1) - 1) >> key_shift) - (keys.first >> key_shift));
  }
};

/// The steps of keys, Policy::tile.keys each, of a block with `rows` queries from p.first_query on. They begin at
/// keys.first and follow each other; with a block mask each begins at the first key after the one before in a tile that
/// any row sees. There is a step wherever the window shows a key.
template <class Policy>
struct attention_steps {
  static constexpr index_t step = Policy::tile.keys;

  const typename Policy::args_type& args;
  const attention_problem& p;
  index_t rows;
  index_range keys;

  /// The first key of the first step.
  TILEWRIGHT_HD index_t first() const {
    if constexpr (!Policy::has_block_mask) return keys.first;
    const index_t seen = next_seen(keys.first);
    return seen < keys.last ? seen : keys.first;
  }
  /// The first key of the step after that of `key`; keys.last or more: there is none.
  TILEWRIGHT_HD index_t after(index_t key) const {
    if constexpr (!Policy::has_block_mask) return key + step;
    return next_seen(key + step);
  }
  /// Whether the block mask shows a step's keys to all of the queries [first, first + count).
  TILEWRIGHT_HD bool sees_all(index_t first, index_t count, [[maybe_unused]] index_t key) const {
    if constexpr (!Policy::has_block_mask) return true;
    return head_block_mask(args, p).is_seen({first, min(first + count, p.queries)}, {key, min(key + step, p.keys)});
  }

 private:
  TILEWRIGHT_HD index_t next_seen(index_t key) const {
    const head_block_mask mask(args, p);
    while (key < keys.last) {
      const index_t tile = key >> mask.key_shift;
      const unsigned seen = mask.tiles_of_queries<true>(p.first_query, min(p.first_query + rows, p.queries), tile);
      if (seen != 0) return max(key, (tile + lowest_set_bit(seen)) << mask.key_shift);
      if (tile + 32 > keys.last >> mask.key_shift) break;
      key = (tile + 32) << mask.key_shift;
    }
    return keys.last;
  }
};

}  // namespace tilewright::detail
