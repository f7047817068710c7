// SPDX-License-Identifier: MIT
// What a consumer of attention's gradients on Hopper does: five products by wgmma for each step of queries.
#pragma once

#include <tilewright/kernels/attention/backward/detail/d_queries.hpp>
#include <tilewright/kernels/attention/backward/hopper_backward_policy.hpp>

#if TILEWRIGHT_HOPPER_PASS
namespace tilewright::detail {

/// One thread of a consumer, which owns 64 rows of K and V. S, dP and what follows from them have these rows, and a
/// step's queries as columns: P and dS are operands A of dV = P dO and dK = dS Q in their registers. Only for dQ does
/// dS go through LDS, where both consumers' rows meet.
template <class Policy>
struct gradient_consumer {
  using T = typename Policy::element_type;
  using stages_type = gradient_stages<Policy>;
  using args_type = typename Policy::args_type;
  using steps_type = typename stages_type::steps_type;
  using scores = static_distributed_tensor<float, typename Policy::s_distribution>;
  static constexpr hopper_backward_lds lds = Policy::lds;
  static constexpr index_t queries = Policy::tile.queries;

  const hopper_backward_device_args<args_type>& device;
  const stages_type& stages;
  index_t consumer;
  index_t thread = modulo(exec::thread_id(), 128);
  typename stages_type::cursor at{};
  typename stages_type::unit_cursor unit{};
  pipeline_state<2> buffer{};  // of dS
  scores s{}, d_p{};           // S and then P; dP
  conditional_t<has_score_function<Policy>, scores, number<0>> slopes{};
  static_distributed_tensor<float, typename Policy::d_v_distribution> d_v{};
  static_distributed_tensor<float, typename Policy::d_k_distribution> d_k{};
  static_distributed_tensor<float, typename Policy::d_q_distribution> d_q{};
  wgmma_tile_in_registers<Policy::d_v_tile, T> p{};
  wgmma_tile_in_registers<Policy::d_k_tile, T> d_s{};
  unsigned* counter = nullptr;  // of additions to dQ that have not been released

  /// The thread's first row of 16 that its wave has of each 64, and its first column of each 8; registers 4 j to 4 j +
  /// 3 of a result are columns 8 j and 8 j + 1 of this row, then of row + 8.
  TILEWRIGHT_HD index_t own_row() const { return divide(thread, 32) * 16 + divide(modulo(thread, 32), 4); }
  TILEWRIGHT_HD index_t own_column() const { return modulo(thread, 4) * 2; }

  TILEWRIGHT_HD unsigned d_s_address() const {
    return stages.base + lds.d_s_offset() + buffer.stage * lds.d_s().bytes();
  }
  /// A wave's rows in the first box of dS, or of those boxes when they take results.
  TILEWRIGHT_HD index_t own_boxes() const { return lds.d_s_offset() + (64 * consumer + divide(thread, 32) * 16) * 128; }

  /// S (keys, queries) = K (keys, d) Q^T (d, queries).
  TILEWRIGHT_HD void start_scores() {
    stages.full(at.stage).wait(at.phase);
    const wgmma_tile_in_lds<lds.k()> k{stages.k() + unsigned(consumer * 64 * 128)};
    block_gemm<Policy::s_tile, T>(s, k, wgmma_tile_in_lds<lds.q()>{stages.q(at.stage)}, false);
  }
  /// dP (keys, queries) = V (keys, d_v) dO^T (d_v, queries).
  TILEWRIGHT_HD void start_d_probabilities() {
    const wgmma_tile_in_lds<lds.v()> v{stages.v() + unsigned(consumer * 64 * 128)};
    block_gemm<Policy::d_p_tile, T>(d_p, v, wgmma_tile_in_lds<lds.d_o()>{stages.d_o(at.stage)}, false);
  }
  /// dQ (queries, d) = dS^T (queries, keys) K (keys, d).
  TILEWRIGHT_HD void start_d_queries() {
    const wgmma_tile_in_lds<lds.d_s()> rows{d_s_address() +
                                            unsigned(queries == 128 ? consumer * lds.d_s().box_bytes() : 0)};
    const wgmma_tile_in_lds<lds.k_columns()> k{stages.k() +
                                               unsigned(queries == 128 ? 0 : consumer * lds.k().box_bytes())};
    block_gemm<Policy::d_q_tile, T>(d_q, rows, k, false);
  }

  /// f(register, its column of 8 j + 0 or 1, its row of two) for each score.
  template <class F>
  TILEWRIGHT_HD static void for_each_score(F f) {
    unroll<queries / 2>([&](auto d)
                            TILEWRIGHT_INLINE_LAMBDA { f(d, constant(d / 4 * 8 + d % 2), constant(d / 2 % 2)); });
  }

  /// Scores that are not seen, also under a block mask, become -infinity.
  TILEWRIGHT_HD void mask(const attention_problem& problem, const seen_band& seen, index_t key, index_t query) {
    const unsigned width = unsigned(seen.highest - seen.lowest) + 1;
    const index_t own_key = key + own_row(), first = own_key - seen.highest - query - own_column();
    for_each_score([&](auto d, index_t column, index_t row) TILEWRIGHT_INLINE_LAMBDA {
      const unsigned count = own_key + 8 * row < problem.keys ? width : 0;
      if (unsigned(column - first - 8 * row) >= count) s.thread_buffer[d] = minus_infinity();
    });
    if constexpr (Policy::has_block_mask) {
      // 16 keys or queries are in one tile.
      const head_block_mask tiles(device.args, problem);
      unroll<queries / 16>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
        if (tiles.tiles_of_query(min(query + 16 * i, problem.queries - 1), own_key >> tiles.key_shift) & 1) return;
        for (index_t d = 0; d < 8; ++d) s.thread_buffer[8 * i + d] = minus_infinity();
      });
    }
  }

  /// The user's function of the scores, and its derivatives.
  TILEWRIGHT_HD void apply_score_function(const attention_problem& problem, index_t key, index_t query) {
    const typename Policy::score_function f{};
    for_each_score([&](auto d, index_t column, index_t row) TILEWRIGHT_INLINE_LAMBDA {
      const score_position position{problem.batch, problem.head, query + own_column() + column,
                                    key + own_row() + 8 * row};
      const float scaled = s.thread_buffer[d] * device.args.scale;
      s.thread_buffer[d] = f(scaled, position, device.args);
      slopes.thread_buffer[d] = f.derivative(scaled, position, device.args);
    });
  }

  /// A number of each of the thread's queries: update(score, number of its query).
  template <class Update>
  TILEWRIGHT_HD void for_each_query(index_t offset, Update update) {
    unroll<queries / 8>([&](auto j) TILEWRIGHT_INLINE_LAMBDA {
      const auto numbers = exec::lds_load<array<float, 2>>(stages.block_lds, offset + 32 * j + 4 * own_column());
      for (index_t i = 0; i < 4; ++i) update(4 * j + i, numbers[i % 2]);
    });
  }

  /// Scores of the queries from `query` on become probabilities. is_whole: a block mask hides none of them.
  TILEWRIGHT_HD void compute_probabilities(const attention_problem& problem, const seen_band& seen, index_t key,
                                           index_t query, bool is_whole) {
    fence_operand(s);
    if constexpr (has_score_function<Policy>) apply_score_function(problem, key, query);
    if (key + 63 >= problem.keys || !seen.all_see(query, query + queries - 1, key, key + 63) || !is_whole) [[unlikely]]
      mask(problem, seen, key, query);
    const float scale = has_score_function<Policy> ? log2_e : device.args.scale * log2_e;
    for_each_query(stages_type::exponents(at.stage), [&](index_t d, float exponent) TILEWRIGHT_INLINE_LAMBDA {
      s.thread_buffer[d] = exec::exp2(s.thread_buffer[d] * scale - exponent);
    });
  }

  /// A step whose probabilities have been computed; computes those of the next one, which has queries from `next_query`
  /// of next.head on. Nothing may be in flight from one iteration of a loop to the next, or
  /// ptxas serialises all wgmma.
  template <bool IsLast>
  TILEWRIGHT_HD void add_step(const attention_problem& problem, const attention_problem& next, const seen_band& seen,
                              index_t key, index_t query, [[maybe_unused]] index_t next_query,
                              [[maybe_unused]] bool next_is_whole) {
    const index_t stage = at.stage;
    start_d_probabilities();
    p.assign(s);
    // dV (keys, d_v) += P (keys, queries) dO (queries, d_v)
    block_gemm(d_v, p, wgmma_tile_in_lds<lds.d_o_columns()>{stages.d_o(stage)}, true);
    exec::wgmma_wait<1>();
    fence_operand(d_p);
    // dS = P (dP - delta)
    for_each_query(stages_type::deltas(stage), [&](index_t d, float delta) TILEWRIGHT_INLINE_LAMBDA {
      s.thread_buffer[d] *= d_p.thread_buffer[d] - delta;
      if constexpr (has_score_function<Policy>) s.thread_buffer[d] *= slopes.thread_buffer[d];
    });
    d_s.assign(s);
    // dK (keys, d) += dS (keys, queries) Q (queries, d)
    block_gemm(d_k, d_s, wgmma_tile_in_lds<lds.q_columns()>{stages.q(stage)}, true);
    store_to_boxes<Policy::op, T>(stages.block_lds + (own_boxes() + buffer.stage * lds.d_s().bytes()), d_s.words,
                                  lds.d_s().box_bytes());
    exec::fence_async_proxy();
    exec::wave_sync();
    if (exec::lane_id() == 0) stages.d_s_full(buffer.stage).arrive();
    exec::wgmma_wait<1>();  // the registers of P are free
    at.advance();
    if constexpr (!IsLast) start_scores();
    stages.d_s_full(buffer.stage).wait(buffer.phase);
    start_d_queries();
    if constexpr (Policy::tile.releases_late) {
      release_d_queries();
      wait_for_blocks_before(problem, seen, key, query);
    }
    buffer.advance();
    exec::wgmma_wait<1>();
    if (exec::lane_id() == 0) stages.empty(stage).arrive();  // this wave has read the numbers, too
    if constexpr (!IsLast) compute_probabilities(next, seen, key, next_query, next_is_whole);
    exec::wgmma_wait<0>();
    fence_operand(d_q);
    add_d_queries_in_order(problem, seen, key, query);
  }

  /// Adds to dQ; once the blocks of all keys before have done so, if the policy wants the same bits in each run:
  ///
  ///   released at once | dQ started |                                       dQ complete | wait | add | release
  ///   released late    | dQ started | release the step before | wait | ... | dQ complete | add | next step
  TILEWRIGHT_HD void add_d_queries_in_order(const attention_problem& problem, const seen_band& seen, index_t key,
                                            index_t query) {
    if constexpr (!Policy::tile.is_deterministic) return add_d_queries(problem, query);
    if constexpr (!Policy::tile.releases_late) wait_for_blocks_before(problem, seen, key, query);
    exec::named_sync<128>(2 + consumer);
    add_d_queries(problem, query);
    if constexpr (!Policy::tile.releases_late) release_d_queries();
  }
  /// One thread waits.
  TILEWRIGHT_HD void wait_for_blocks_before(const attention_problem& problem, const seen_band& seen, index_t key,
                                            index_t query) {
    const index_t first_key = seen.keys_of(query, min(query + queries, problem.queries) - 1, problem.keys).first;
    counter = backward_workspace(device.args, problem.batch, problem.head).counters(device.args, Policy::head_dim) +
              (divide(query, 64) * 2 + consumer);
    if (thread == 0) exec::wait_for_count(counter, blocks_before(problem, first_key, key, query));
  }
  /// Blocks with keys from `first_key` on that add to a step's queries before that of `key`.
  TILEWRIGHT_HD unsigned blocks_before(const attention_problem& problem, index_t first_key, index_t key,
                                       index_t query) const {
    constexpr number<Policy::keys> keys{};
    const index_t first = divide(first_key, keys), own = divide(key, keys);
    if constexpr (!Policy::has_block_mask) return unsigned(own - first);
    const index_range rows{query, min(query + queries, problem.queries)};
    const head_block_mask mask(device.args, problem);
    unsigned count = 0;
    for (index_t block = first; block < own; ++block)
      count += mask.first_that_sees(rows, {block * keys, (block + 1) * keys}) < rows.last;
    return count;
  }
  /// The consumer's additions are in memory: the next block may add, too.
  TILEWRIGHT_HD void release_d_queries() {
    if (exec::lane_id() == 0) exec::tma_store_wait<0>();
    exec::named_sync<128>(2 + consumer);
    if (thread == 0 && (!Policy::tile.releases_late || counter != nullptr)) exec::add_release(counter, 1);
    counter = nullptr;
  }

  /// A wave adds its 16 rows to the float copy of dQ: by way of LDS, in one piece.
  TILEWRIGHT_HD void add_d_queries(const attention_problem& problem, index_t query) const {
    const index_t wave = divide(thread, 32), row = query + wave * 16 + (queries == 128 ? 64 * consumer : 0),
                  column = queries == 128 ? 0 : 64 * consumer;
    const index_t place = lds.d_q_offset() + (consumer * 4 + wave) * lds.d_q_bytes_of_wave();
    wait_for_boxes();
    store_d_queries<lds.d_q_columns() / 16>(stages.block_lds + place, d_q.thread_buffer.data());
    exec::fence_async_proxy();
    exec::wave_sync();
    if (exec::lane_id() != 0 || row >= problem.queries) return;
    float* const copy = backward_workspace(device.args, problem.batch, problem.head).d_q(device.args, Policy::head_dim);
    exec::tma_reduce_add(copy + address_of_d_query(row, column, Policy::head_dim), stages.base + unsigned(place),
                         min(lds.d_q_columns(), Policy::head_dim - column) * 64);
    exec::tma_store_commit();
  }

  /// Writes rows of dV or dK by way of the boxes from number `first` on.
  template <class Accumulators>
  TILEWRIGHT_HD void store(const Accumulators& c, float factor, const exec::tensor_map& map, index_t dim, index_t first,
                           const multi_index<5>& position) const {
    const index_t place = own_boxes() + first * lds.d_s().box_bytes();
    store_to_boxes<Policy::op, T>(stages.block_lds + place, round_to_words<T>(c, factor), lds.d_s().box_bytes());
    exec::wave_sync();
    if (exec::lane_id() == 0)
      store_boxes<T>(map, stages.base + unsigned(place), ceil_div(dim, 64), lds.d_s().box_bytes(), position);
  }

  /// The gradients of the rows of K and V from `key` on; `steps`: of the queries that see them.
  TILEWRIGHT_HD void operator()(attention_problem problem, index_t key, steps_type steps) {
    key += 64 * consumer;
    const seen_band seen(device.args.window, problem);
    const index_t last_head = problem.head + divide(device.args.heads, device.args.kv_heads) - 1;
    stages.k_full().wait(unit.phase);
    stages.v_full().wait(unit.phase);
    unit.advance();
    wait_for_boxes();
    d_v = {};
    d_k = {};
    if (steps.begin(device.args, problem, last_head)) {
      start_scores();
      exec::wgmma_wait<0>();
      compute_probabilities(problem, seen, key, steps.query(), steps.is_whole());
      TILEWRIGHT_UNROLL(1)
      while (steps.find_next(device.args, problem, last_head)) {
        attention_problem next = problem;
        const index_t query = steps.query();
        steps.advance(next);
        add_step<false>(problem, next, seen, key, query, steps.query(), steps.is_whole());
        problem.head = next.head;
      }
      add_step<true>(problem, problem, seen, key, steps.query(), 0, true);
      if constexpr (Policy::tile.releases_late) release_d_queries();
    }
    fence_operand(d_v);
    fence_operand(d_k);
    exec::named_sync<256>(1);  // dS has been read by both consumers
    if (thread == 0) {
      stages.k_empty().arrive();
      stages.v_empty().arrive();
    }
    const index_t row = key + divide(thread, 32) * 16;
    const multi_index<5> position = key_position(device.args, problem, row);
    constexpr index_t boxes_of_v = ceil_div(Policy::value_dim, 64), boxes_of_k = ceil_div(Policy::head_dim, 64);
    constexpr bool both_fit = boxes_of_v + boxes_of_k <= lds.d_s_boxes();
    store(d_v, 1, device.d_v, Policy::value_dim, 0, position);
    if constexpr (!both_fit) wait_for_boxes();
    store(d_k, device.args.scale, device.d_k, Policy::head_dim, both_fit ? boxes_of_v : 0, position);
  }
};

}  // namespace tilewright::detail
#endif
