// SPDX-License-Identifier: MIT
// Gradients of a block's rows: of K and V, or of Q.
#pragma once

#include <tilewright/kernels/attention/backward/detail/backward_scores.hpp>
#include <tilewright/kernels/attention/detail/attention_rows.hpp>
#include <tilewright/kernels/attention/detail/row_stream.hpp>

namespace tilewright::detail {

/// A policy whose Q, K, V and O all have heads of Dim elements.
template <class Policy, index_t Dim>
struct of_head_dim : Policy {
  static constexpr index_t head_dim = Dim, value_dim = Dim;
};

/// What a pass over the other rows adds up. Where registers do not hold the accumulators of both gradients of a key,
/// they are those of two passes.
enum class gradient_of : signed char { keys_and_values, keys, values, queries };

/// Gradients of a block's rows: of K, of V, of both, or of Q. S, dP and their gradients have the block's rows, which
/// its waves divide; the other rows pass through LDS. Each gradient is added up in one order: results are the same in
/// each run.
template <class Policy, gradient_of What>
struct gradient_pass {
  static constexpr bool RowsAreKeys = What != gradient_of::queries;
  static constexpr bool of_qk = What != gradient_of::values;  // dK or dQ
  static constexpr bool of_v = What == gradient_of::values || What == gradient_of::keys_and_values;
  using args_type = typename Policy::args_type;
  using T = typename Policy::element_type;
  using qk = of_head_dim<Policy, Policy::head_dim>;   // Q and K
  using vo = of_head_dim<Policy, Policy::value_dim>;  // V and dO
  using qk_chunks = attention_chunks<qk, operand_major::k>;
  using vo_chunks = attention_chunks<vo, operand_major::k>;
  // Beside the accumulators of gradients RDNA's 256 registers have no room for rows in flight, nor have 512 for those
  // of a block of two waves.
  static constexpr bool loads_ahead = Policy::arch::value.wave_size == 64 && Policy::tile.waves >= 4;
  using qk_stream = row_stream<qk, of_qk ? stream_use::both : stream_use::rows, loads_ahead>;
  using vo_stream = row_stream<vo,
                               !of_v   ? stream_use::rows
                               : of_qk ? stream_use::both
                                       : stream_use::columns,
                               loads_ahead>;
  using exchange_type = probability_exchange<Policy>;
  using scores = backward_scores<Policy, RowsAreKeys>;
  static constexpr attention_tile tile = Policy::tile;
  static constexpr index_t buffers = arch::is_amd(Policy::arch::value) ? 1 : 2;
  static constexpr index_t buffer_bytes = qk_stream::bytes + vo_stream::bytes;
  static constexpr index_t exchange_begin = buffers * buffer_bytes;
  static constexpr index_t rows_begin = exchange_begin + (of_qk + of_v) * exchange_type::lds_bytes;
  static constexpr index_t lds_bytes = rows_begin + queries_lds_bytes<qk> + (of_qk ? queries_lds_bytes<vo> : 0);

  /// The rows of this pass in one of two tensors, of keys or of queries.
  template <class Data>
  TILEWRIGHT_HD static auto own_rows_of(Data* of_keys, const attention_strides& key_strides, Data* of_queries,
                                        const attention_strides& query_strides, const attention_problem& p) {
    using element = conditional_t<__is_same(Data, const void), const T, T>;
    return RowsAreKeys ? key_rows<element>(of_keys, key_strides, p) : query_rows<element>(of_queries, query_strides, p);
  }

  struct gradients {
    typename attention_outputs<qk, qk_chunks>::type qk_gradient{};
    typename attention_outputs<vo, vo_chunks>::type vo_gradient{};
  };

  /// The first of the other rows in `range` from `from` on that the block mask shows to any of the block's; without one
  /// that is `from`. range.last or more: there is none.
  TILEWRIGHT_HD static index_t next_step(const args_type& args, const attention_problem& p, index_t first_row,
                                         const index_range& range, index_t from) {
    if (!Policy::has_block_mask || from >= range.last) return from;
    if constexpr (RowsAreKeys)
      return head_block_mask(args, p).first_that_sees({from, range.last},
                                                      {first_row, min(first_row + tile.queries, p.keys)});
    attention_problem of_rows = p;
    of_rows.first_query = first_row;
    return attention_steps<Policy>{args, of_rows, tile.queries, {from, range.last}}.after(from - tile.keys);
  }
  /// Whether all of the block's rows see all of the other rows of the step from `at` on.
  TILEWRIGHT_HD static bool all_see_step(const args_type& args, const attention_problem& p, const seen_band& seen,
                                         index_t first_row, index_t at) {
    const index_range own{first_row, first_row + tile.queries}, other{at, at + tile.keys},
        queries = RowsAreKeys ? other : own, keys = RowsAreKeys ? own : other;
    if (!seen.all_see(queries.first, queries.last - 1, keys.first, keys.last - 1)) return false;
    if constexpr (!Policy::has_block_mask) return true;
    return head_block_mask(args, p).is_seen({queries.first, min(queries.last, p.queries)},
                                            {keys.first, min(keys.last, p.keys)});
  }

  /// Adds what the rows from `range.first` on of one head give.
  template <class QkRows, class VoRows>
  TILEWRIGHT_HD static void add_head(gradients& d, const QkRows& qk_rows, const VoRows& vo_rows, const args_type& args,
                                     const attention_problem& p, index_t first_row, exec::lds_pointer lds) {
    constexpr index_t step = tile.keys;
    const seen_band seen(args.window, p);
    const index_t count = RowsAreKeys ? p.queries : p.keys, last_row = first_row + tile.queries - 1;
    const index_range range = RowsAreKeys ? seen.queries_of(first_row, min(last_row, p.keys - 1), count)
                                          : seen.keys_of(first_row, min(last_row, p.queries - 1), count);
    const index_t first = next_step(args, p, first_row, range, range.first & -step);
    const backward_workspace space(args, p.batch, p.head);
    qk_stream qk_there(
        RowsAreKeys ? query_rows<const T>(args.q, args.q_strides, p) : key_rows<const T>(args.k, args.k_strides, p),
        first, lds);
    vo_stream vo_there(
        RowsAreKeys ? query_rows<const T>(args.d_o, args.d_o_strides, p) : key_rows<const T>(args.v, args.v_strides, p),
        first, lds + qk_stream::bytes);
    const exchange_type exchange{lds + exchange_begin},
        second_exchange{lds + (exchange_begin + (of_v ? exchange_type::lds_bytes : 0))};
    typename scores::query_values exponents, deltas;
    // With wide heads RDNA's registers have no room for them before they are used.
    constexpr bool loads_late = Policy::gradients_apart && Policy::arch::value.wave_size == 32;
    if constexpr (!RowsAreKeys && !loads_late) scores::load(exponents, deltas, space, p.queries, first_row);
    index_t buffer = 0;  // in bytes
    const auto begin = [&]() TILEWRIGHT_INLINE_LAMBDA {
      qk_there.begin(buffer);
      vo_there.begin(buffer);
    };
    if (first < range.last) begin();
    TILEWRIGHT_UNROLL(1)
    for (index_t at = first, next; at < range.last; at = next) {
      next = next_step(args, p, first_row, range, at + step);
      qk_there.finish();
      vo_there.finish();
      if constexpr (Policy::has_block_mask) {
        qk_there.skip(next - at - step);
        vo_there.skip(next - at - step);
      }
      exec::block_sync();
      const index_t here = buffer;
      if constexpr (buffers == 2) buffer = buffer_bytes - buffer;
      if (next < range.last) begin();
      if constexpr (RowsAreKeys && !loads_late) scores::load(exponents, deltas, space, p.queries, at);
      typename scores::tile_type s{}, ds{};
      qk_there.multiply_rows(s, qk_rows, here);
      if constexpr (of_qk) vo_there.multiply_rows(ds, vo_rows, here);
      if constexpr (loads_late) {
        exec::schedule_fence();
        scores::load(exponents, deltas, space, p.queries, RowsAreKeys ? at : first_row);
      }
      const bool all_see = at + step <= count && all_see_step(args, p, seen, first_row, at);
      scores::differentiate(s, ds, exponents, deltas, args, p, seen, first_row, at, !all_see);
      if constexpr (of_v) vo_there.multiply_columns(d.vo_gradient, exchange(s), here);
      if constexpr (of_qk) qk_there.multiply_columns(d.qk_gradient, second_exchange(ds), here);
      if constexpr (buffers == 1) exec::block_sync();
    }
    if constexpr (buffers == 2) exec::block_sync();
  }

  /// Gradients of the rows from `first_row` on. p: of the head, or of the first head that shares the keys.
  TILEWRIGHT_HD static void run(const args_type& args, const attention_problem& p, index_t first_row,
                                exec::lds_pointer lds) {
    const auto qk_rows = load_rows<qk>(own_rows_of(args.k, args.k_strides, args.q, args.q_strides, p), first_row,
                                       lds + rows_begin, qk_chunks{});
    const auto load_vo_rows = [&]() TILEWRIGHT_INLINE_LAMBDA {
      if constexpr (of_qk)
        return load_rows<vo>(own_rows_of(args.v, args.v_strides, args.d_o, args.d_o_strides, p), first_row,
                             lds + (rows_begin + queries_lds_bytes<qk>), vo_chunks{});
      else
        return tuple<>{};
    };
    const auto vo_rows = load_vo_rows();
    gradients d;
    const index_t heads = RowsAreKeys ? divide(args.heads, args.kv_heads) : 1;
    attention_problem of_head = p;
    for (index_t h = 0; h < heads; ++h) {
      add_head(d, qk_rows, vo_rows, args, of_head, first_row, lds);
      ++of_head.head;
    }
    if constexpr (of_qk)
      store_rows<qk>(own_rows_of(args.d_k, args.d_k_strides, args.d_q, args.d_q_strides, p), first_row, d.qk_gradient,
                     args.scale, qk_chunks{});
    if constexpr (of_v)
      store_rows<vo>(key_rows<T>(args.d_v, args.d_v_strides, p), first_row, d.vo_gradient, 1, vo_chunks{});
  }
};

}  // namespace tilewright::detail
