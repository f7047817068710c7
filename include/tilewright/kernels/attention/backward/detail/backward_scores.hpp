// SPDX-License-Identifier: MIT
// Probabilities and gradients of scores of one step, from products and the forward's log-sum-exp.
#pragma once

#include <tilewright/kernels/attention/attention_args.hpp>
#include <tilewright/kernels/attention/backward/backward_args.hpp>
#include <tilewright/kernels/attention/detail/attention_steps.hpp>
#include <tilewright/tile/registers/reduce_tile.hpp>

namespace tilewright::detail {

/// Which queries and keys see each other: those with lowest <= key - query <= highest.
struct seen_band {
  index_t lowest, highest;

  TILEWRIGHT_HD seen_band(const attention_window& w, const attention_problem& p) {
    constexpr index_t far = 1 << 30;
    lowest = w.left < 0 || w.left > far / 2 ? -far : p.diagonal() - w.left;
    highest = w.right < 0 || w.right > far / 2 ? far : p.diagonal() + w.right;
  }
  /// Keys that any of the queries sees, out of `keys`.
  TILEWRIGHT_HD index_range keys_of(index_t first_query, index_t last_query, index_t keys) const {
    return {max(0, first_query + lowest), min(keys, last_query + highest + 1)};
  }
  /// Queries that any of the keys is seen by, out of `queries`.
  TILEWRIGHT_HD index_range queries_of(index_t first_key, index_t last_key, index_t queries) const {
    return {max(0, first_key - highest), min(queries, last_key - lowest + 1)};
  }
  TILEWRIGHT_HD bool all_see(index_t first_query, index_t last_query, index_t first_key, index_t last_key) const {
    return last_key - first_query <= highest && first_key - last_query >= lowest;
  }
};

/// What the workspace holds of a head: for each query the log-sum-exp as an exponent of 2, +infinity where nothing was
/// seen, so that probabilities become zero; and the sum of dO O.
struct backward_workspace {
  float *exponents, *deltas;
  TILEWRIGHT_HD backward_workspace(const attention_backward_args& args, index_t batch, index_t head)
      : number_of_head_(long_index_t(batch) * args.heads + head),
        rows_(long_index_t(args.batch) * args.heads * args.queries),
        d_q_rows_(round_up(args.queries, 16)) {
    exponents = static_cast<float*>(args.workspace) + number_of_head_ * args.queries;
    deltas = exponents + rows_;
  }
  /// Its dQ in float, where the kernel adds it up in memory, in the order of address_of_d_query.
  TILEWRIGHT_HD float* d_q(const attention_backward_args& args, index_t head_dim) const {
    return static_cast<float*>(args.workspace) + round_up(2 * rows_, long_index_t{4}) +
           number_of_head_ * d_q_rows_ * head_dim;
  }
  /// How many blocks have added to queries 64 i to 64 i + 63: numbers 2 i and 2 i + 1, for two consumers.
  TILEWRIGHT_HD unsigned* counters(const attention_backward_args& args, index_t head_dim) const {
    float* const end = static_cast<float*>(args.workspace) + round_up(2 * rows_, long_index_t{4}) +
                       long_index_t(args.batch) * args.heads * d_q_rows_ * head_dim;
    return reinterpret_cast<unsigned*>(end) + number_of_head_ * ceil_div(args.queries, 64) * 2;
  }

 private:
  long_index_t number_of_head_, rows_, d_q_rows_;
};

/// Scores of a tile with rows of keys and columns of queries (RowsAreKeys), or the other way round.
template <class Policy, bool RowsAreKeys>
struct backward_scores {
  using distribution = typename attention_product<Policy, operand_major::k, 0>::c;
  using tile_type = static_distributed_tensor<float, distribution>;
  static constexpr index_t along_queries = RowsAreKeys ? 1 : 0;
  using query_distribution = reduced_distribution<distribution, 1 - along_queries>;
  using query_values = static_distributed_tensor<float, query_distribution>;

  /// One float for each query of the tile, from the workspace; zeros from number `queries` on.
  TILEWRIGHT_HD static query_values load(const float* values, index_t queries, index_t first_query) {
    constexpr number<RowsAreKeys ? Policy::tile.keys : Policy::tile.queries> length{};
    const auto view =
        make_naive_tensor_view<address_space_enum::global>(values, make_tuple(queries), make_tuple(number<1>{}));
    return load_tile(make_tile_window(view, make_tuple(length), {first_query}, query_distribution{}));
  }

  TILEWRIGHT_HD static void load(query_values& exponents, query_values& deltas, const backward_workspace& space,
                                 index_t queries, index_t first_query) {
    exponents = load(space.exponents, queries, first_query);
    deltas = load(space.deltas, queries, first_query);
  }

  /// Of each query of the tile, a bit for each of the block mask's 32 tiles from that of key `first_key` on.
  TILEWRIGHT_HD static auto load_tiles(const attention_args& args, const attention_problem& p, index_t first_query,
                                       index_t first_key) {
    const head_block_mask mask(args, p);
    const index_t own = first_query + query_distribution::calculate_index(get_partition_index<query_distribution>())[0];
    static_distributed_tensor<unsigned, query_distribution> tiles;
    unroll<query_distribution::num_elements>([&](auto q) TILEWRIGHT_INLINE_LAMBDA {
      const index_t query = own + constant(position_of_register<query_distribution, q.value>[0]);
      tiles.thread_buffer[q] = mask.tiles_of_query(min(query, p.queries - 1), first_key >> mask.key_shift);
    });
    return tiles;
  }

  /// Turns s (products of Q and K) into probabilities and dp (products of dO and V) into gradients of the products,
  /// but for the factor args.scale.
  template <class Args>
  TILEWRIGHT_HD static void differentiate(tile_type& s, tile_type& dp, const query_values& exponents,
                                          const query_values& deltas, const Args& args, const attention_problem& p,
                                          const seen_band& seen, index_t first_row, index_t first_column,
                                          bool is_masked) {
    const auto own = distribution::calculate_index(get_partition_index<distribution>());
    const index_t own_row = first_row + own[0], own_column = first_column + own[1];
    [[maybe_unused]] const typename Policy::score_function f{};
    const auto tiles_of_queries = [&]() TILEWRIGHT_INLINE_LAMBDA {
      if constexpr (Policy::has_block_mask)
        return load_tiles(args, p, RowsAreKeys ? first_column : first_row, RowsAreKeys ? first_row : first_column);
      else
        return 0;
    };
    [[maybe_unused]] const auto tiles = tiles_of_queries();
    unroll<distribution::num_elements>([&](auto d) TILEWRIGHT_INLINE_LAMBDA {
      constexpr auto at = position_of_register<distribution, d.value>;
      constexpr index_t q = register_along<distribution, query_distribution, along_queries>(d.value);
      const index_t row = own_row + constant(at[0]), column = own_column + constant(at[1]);
      const index_t query = RowsAreKeys ? column : row, key = RowsAreKeys ? row : column;
      float &x = s.thread_buffer[d], &dx = dp.thread_buffer[d];
      [[maybe_unused]] float slope = 1;
      if constexpr (has_score_function<Policy>) {
        const score_position position{p.batch, p.head, query, key};
        const float scaled = x * args.scale;
        x = f(scaled, position, args);
        slope = f.derivative(scaled, position, args);
      }
      const float exponent =
          x * (has_score_function<Policy> ? log2_e : args.scale * log2_e) - exponents.thread_buffer[constant(q)];
      bool hidden = is_masked && unsigned(key - query - seen.lowest) > unsigned(seen.highest - seen.lowest);
      hidden = hidden | (is_masked && column >= (RowsAreKeys ? p.queries : p.keys));
      if constexpr (Policy::has_block_mask) {
        const index_t shift = lowest_set_bit(unsigned(args.block_mask.keys)),
                      tile = (key >> shift) - ((RowsAreKeys ? first_row : first_column) >> shift);
        hidden = hidden | (is_masked && (tiles.thread_buffer[constant(q)] >> tile & 1) == 0);
      }
      x = exec::exp2(hidden ? minus_infinity() : exponent);
      dx = x * (dx - deltas.thread_buffer[constant(q)]);
      if constexpr (has_score_function<Policy>) dx *= slope;
    });
  }
};

}  // namespace tilewright::detail
