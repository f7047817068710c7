// SPDX-License-Identifier: MIT
// What a consumer of attention's gradients of wide heads on Hopper does: consumers divide the columns of dV, dK and dQ,
// and exchange P and dS.
#pragma once

#include <tilewright/kernels/attention/backward/detail/d_queries.hpp>
#include <tilewright/kernels/attention/backward/hopper_backward_policy.hpp>

#if TILEWRIGHT_HOPPER_PASS
namespace tilewright::detail {

/// One thread of a consumer. S and dP have a step's queries as rows, and the consumer's share of the block's keys as
/// columns. P and dS of all keys meet in LDS; each consumer multiplies them for its own columns of the head dimension:
///
///   dP started | store P | all | dV started | dS from dP | dV complete | store dS | all | dK, dQ, S of the next step
///   started | dK, dQ complete | dQ to memory | S complete | P of the next step | release the stage
///
/// `all`: a barrier of all consumers. P of a step is replaced after the second one, before which dV is complete, dS
/// after the next step's first one, before which dK and dQ are. If P and dS share a place there are two more: before
/// dS replaces P, and before P replaces dS.
template <class Policy>
struct wide_gradient_consumer {
  using T = typename Policy::element_type;
  using stages_type = gradient_stages<Policy>;
  using args_type = typename Policy::args_type;
  using steps_type = typename stages_type::steps_type;
  using scores = static_distributed_tensor<float, typename Policy::s_distribution>;
  using gradient = static_distributed_tensor<float, typename Policy::gradient_distribution>;
  static constexpr wide_backward_lds lds = Policy::lds;
  static constexpr index_t queries = Policy::tile.queries, own_keys = lds.own_keys(), boxes = lds.boxes(),
                           boxes_of_k = lds.k().num_boxes(), boxes_of_v = lds.v().num_boxes();
  static constexpr index_t d_q_products = boxes / lds.d_q_boxes();
  /// S of the next step is in flight beside dQ. Three consumers do not have the registers.
  static constexpr bool overlaps = lds.consumers == 2;
  enum named_barrier : index_t { all_consumers = 1, own_warpgroup = 2 };

  const hopper_backward_device_args<args_type>& device;
  stages_type stages;
  index_t consumer;
  index_t thread = modulo(exec::thread_id(), 128);
  typename stages_type::cursor at{};
  typename stages_type::unit_cursor unit{};
  scores s{}, d_p{};  // S and then P; dP
  conditional_t<has_score_function<Policy>, scores, number<0>> slopes{};
  gradient d_v{}, d_k{};  // transposed
  static_distributed_tensor<float, typename Policy::d_q_distribution> d_q{};

  TILEWRIGHT_HD index_t wave() const { return divide(thread, 32); }
  /// The thread's first row of 16 that its wave has of each 64, and its first column of each 8; registers 4 j to 4 j +
  /// 3 of a result are columns 8 j and 8 j + 1 of this row, then of row + 8.
  TILEWRIGHT_HD index_t own_row() const { return wave() * 16 + divide(modulo(thread, 32), 4); }
  TILEWRIGHT_HD index_t own_column() const { return modulo(thread, 4) * 2; }
  TILEWRIGHT_HD index_t first_key() const { return consumer * own_keys; }
  /// The consumer's first box of 64 columns, out of `all`. The last consumers repeat boxes of others where there are
  /// not enough.
  TILEWRIGHT_HD index_t first_box(index_t all) const { return min(consumer * boxes, all - boxes); }

  TILEWRIGHT_HD static void sync_consumers() { exec::named_sync<lds.consumers * 128>(all_consumers); }
  /// What threads wrote to LDS is there for all consumers' wgmma.
  TILEWRIGHT_HD static void publish() {
    exec::fence_async_proxy();
    sync_consumers();
  }
  TILEWRIGHT_HD void sync_own_warpgroup() const { exec::named_sync<128>(own_warpgroup + consumer); }

  /// Addresses are computed again in each step: there are no registers for those of all its instructions.
  TILEWRIGHT_HD void forget_addresses() {
    stages.base = unsigned(exec::opaque(index_t(stages.base)));
    consumer = exec::opaque(consumer);
    thread = exec::opaque(thread);
  }

  /// S (queries, own keys) = Q (queries, d) K^T (d, own keys).
  TILEWRIGHT_HD void start_scores() {
    stages.full(at.stage).wait(at.phase);
    block_gemm<Policy::s_tile, T>(s, wgmma_tile_in_lds<lds.q()>{stages.q(at.stage)},
                                  wgmma_tile_in_lds<lds.own_k()>{stages.k() + unsigned(first_key() * 128)}, false);
  }
  /// dP (queries, own keys) = dO (queries, d_v) V^T (d_v, own keys).
  TILEWRIGHT_HD void start_d_probabilities() {
    block_gemm<Policy::d_p_tile, T>(d_p, wgmma_tile_in_lds<lds.d_o()>{stages.d_o(at.stage)},
                                    wgmma_tile_in_lds<lds.own_v()>{stages.v() + unsigned(first_key() * 128)}, false);
  }
  /// dV^T (own columns, keys) += dO^T (own columns, queries) P (queries, keys), or dK^T += Q^T dS. `rows`: of dO or Q,
  /// with `all` boxes.
  TILEWRIGHT_HD void add_gradient(gradient& sum, unsigned rows, index_t all, index_t scores_offset) const {
    block_gemm<Policy::gradient_tile, T>(
        sum, wgmma_tile_in_lds<lds.columns()>{rows + unsigned(first_box(all) * lds.q().box_bytes())},
        wgmma_tile_in_lds<lds.scores_of_keys()>{stages.base + unsigned(scores_offset)}, true);
  }
  /// dQ (queries, columns of a product) = dS (queries, keys) K (keys, columns).
  TILEWRIGHT_HD void start_d_queries(index_t product) {
    const index_t box = first_box(boxes_of_k) + product * lds.d_q_boxes();
    block_gemm<Policy::d_q_tile, T>(
        d_q, wgmma_tile_in_lds<lds.scores()>{stages.base + unsigned(lds.d_s_offset())},
        wgmma_tile_in_lds<lds.k_columns()>{stages.k() + unsigned(box * lds.k().box_bytes())}, false);
  }

  /// f(register, its column of 8 j + 0 or 1, its row of two) for each score.
  template <class F>
  TILEWRIGHT_HD static void for_each_score(F f) {
    unroll<own_keys / 2>([&](auto d)
                             TILEWRIGHT_INLINE_LAMBDA { f(d, constant(d / 4 * 8 + d % 2), constant(d / 2 % 2)); });
  }

  /// Scores that are not seen, also under a block mask, become -infinity. `key`: the consumer's first.
  TILEWRIGHT_HD void mask(const attention_problem& problem, const seen_band& seen, index_t key, index_t query) {
    const unsigned width = unsigned(seen.highest) - unsigned(seen.lowest);
    const index_t own_key = key + own_column(), first = own_key - query - own_row() - seen.lowest;
    for_each_score([&](auto d, index_t column, index_t row) TILEWRIGHT_INLINE_LAMBDA {
      if (unsigned(first + column - 8 * row) > width || own_key + column >= problem.keys)
        s.thread_buffer[d] = minus_infinity();
    });
    if constexpr (Policy::has_block_mask) {
      // A thread's queries are in one tile, and all of its keys in few.
      const head_block_mask tiles(device.args, problem);
      const index_t tile = key >> tiles.key_shift;
      const unsigned seen_tiles = tiles.tiles_of_query(min(query + own_row(), problem.queries - 1), tile);
      for_each_score([&](auto d, index_t column, index_t) TILEWRIGHT_INLINE_LAMBDA {
        if ((seen_tiles >> (((own_key + column) >> tiles.key_shift) - tile) & 1) == 0)
          s.thread_buffer[d] = minus_infinity();
      });
    }
  }

  /// The user's function of the scores, and its derivatives.
  TILEWRIGHT_HD void apply_score_function(const attention_problem& problem, index_t key, index_t query) {
    const typename Policy::score_function f{};
    for_each_score([&](auto d, index_t column, index_t row) TILEWRIGHT_INLINE_LAMBDA {
      const score_position position{problem.batch, problem.head, query + own_row() + 8 * row,
                                    key + own_column() + column};
      const float scaled = s.thread_buffer[d] * device.args.scale;
      s.thread_buffer[d] = f(scaled, position, device.args);
      slopes.thread_buffer[d] = f.derivative(scaled, position, device.args);
    });
  }

  /// A number of each of the thread's two queries.
  TILEWRIGHT_HD array<float, 2> numbers_of_queries(index_t offset) const {
    return {{exec::lds_load<float>(stages.block_lds, offset + 4 * own_row()),
             exec::lds_load<float>(stages.block_lds, offset + 4 * own_row() + 32)}};
  }

  /// Scores of the queries from `query` on become probabilities. is_whole: a block mask hides none of them.
  TILEWRIGHT_HD void compute_probabilities(const attention_problem& problem, const seen_band& seen, index_t key,
                                           index_t query, bool is_whole) {
    key += first_key();
    fence_operand(s);
    if constexpr (has_score_function<Policy>) apply_score_function(problem, key, query);
    const index_t last_key = key + own_keys - 1;
    if (last_key >= problem.keys || !seen.all_see(query, query + queries - 1, key, last_key) || !is_whole) [[unlikely]]
      mask(problem, seen, key, query);
    const float scale = has_score_function<Policy> ? log2_e : device.args.scale * log2_e;
    const array<float, 2> exponents = numbers_of_queries(stages_type::exponents(at.stage));
    for_each_score([&](auto d, index_t, index_t row) TILEWRIGHT_INLINE_LAMBDA {
      s.thread_buffer[d] = exec::exp2(s.thread_buffer[d] * scale - exponents[row]);
    });
  }
  /// dS = P (dP - delta), in the place of P.
  TILEWRIGHT_HD void differentiate(index_t stage) {
    fence_operand(d_p);
    const array<float, 2> deltas = numbers_of_queries(stages_type::deltas(stage));
    for_each_score([&](auto d, index_t, index_t row) TILEWRIGHT_INLINE_LAMBDA {
      s.thread_buffer[d] *= d_p.thread_buffer[d] - deltas[row];
      if constexpr (has_score_function<Policy>) s.thread_buffer[d] *= slopes.thread_buffer[d];
    });
  }

  /// Where 16 bytes of a row of boxes with `Rows` rows are: byte 16 * `chunk`.
  template <index_t Rows>
  TILEWRIGHT_HD static index_t chunk_address(index_t row, index_t chunk) {
    const index_t box = divide(chunk, 8);
    return box * (Rows * 128) + tma_swizzled_address(128, row * 128 + (chunk - 8 * box) * 16);
  }
  /// Writes P or dS, rounded, to its place.
  TILEWRIGHT_HD void store_scores(index_t offset) const {
    constexpr index_t chunks = own_keys / 8;
    const auto words = round_to_words<T>(s);
    const index_t lane = modulo(thread, 32), matrix = divide(lane, 8), first = consumer * chunks;
    unroll<chunks / 2>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
      exec::stmatrix_x4<false>(
          stages.block_lds,
          offset + chunk_address<queries>(wave() * 16 + modulo(lane, 16), first + 2 * i + divide(matrix, 2)),
          array<unsigned, 4>{{words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3]}});
    });
    if constexpr (chunks % 2 == 1) {
      for (index_t r = 0; r < 2; ++r)
        exec::lds_store(stages.block_lds,
                        offset + chunk_address<queries>(own_row() + 8 * r, first + chunks - 1) + 2 * own_column(),
                        words[2 * (chunks - 1) + r]);
    }
  }

  /// A step whose probabilities have been computed; computes those of the next one, which has queries from `next_query`
  /// of next.head on. Nothing may be in flight from one iteration of a loop to the next, or
  /// ptxas serialises all wgmma.
  template <bool IsLast>
  TILEWRIGHT_HD void add_step(const attention_problem& problem, const attention_problem& next, const seen_band& seen,
                              index_t key, index_t query, [[maybe_unused]] index_t next_query,
                              [[maybe_unused]] bool next_is_whole) {
    const index_t stage = at.stage;
    forget_addresses();
    start_d_probabilities();
    if constexpr (lds.shares_scores()) sync_consumers();
    store_scores(lds.p_offset());
    publish();
    add_gradient(d_v, stages.d_o(stage), boxes_of_v, lds.p_offset());
    exec::wgmma_wait<1>();
    differentiate(stage);
    exec::wgmma_wait<0>();
    if constexpr (lds.shares_scores()) sync_consumers();
    store_scores(lds.d_s_offset());
    publish();
    add_gradient(d_k, stages.q(stage), boxes_of_k, lds.d_s_offset());
    at.advance();
    unroll<d_q_products>([&](auto product) TILEWRIGHT_INLINE_LAMBDA {
      constexpr bool is_last_product = !IsLast && product == d_q_products - 1;
      start_d_queries(product);
      if constexpr (is_last_product && overlaps) start_scores();
      exec::wgmma_wait<is_last_product && overlaps ? 1 : 0>();
      fence_operand(d_q);
      if constexpr (lds.d_q_is_in_stage() && product == 0) sync_own_warpgroup();
      write_d_queries(stage, product);
      if constexpr (is_last_product && !overlaps) start_scores();
      add_d_queries(problem, query, stage, product);
    });
    if constexpr (!IsLast) {
      exec::wgmma_wait<0>();
      compute_probabilities(next, seen, key, next_query, next_is_whole);
    }
    if (exec::lane_id() == 0) {
      exec::tma_store_wait_read<0>();
      stages.empty(stage).arrive();
    }
  }

  /// Where a wave's 16 rows of a box of dQ are in LDS.
  TILEWRIGHT_HD index_t d_q_place(index_t stage, index_t box) const {
    if constexpr (!lds.d_q_is_in_stage())
      return lds.d_q_offset() + ((consumer * boxes + box) * 4 + wave()) * lds.d_q_bytes_of_wave;
    const index_t own_box = consumer * boxes + box;
    return lds.stages_offset() + stage * lds.stage_bytes() + own_box * lds.q().box_bytes() +
           (wave() < 2 ? 0 : lds.q().bytes()) + modulo(wave(), 2) * lds.d_q_bytes_of_wave;
  }
  /// A wave writes its 16 rows of a product to LDS.
  TILEWRIGHT_HD void write_d_queries(index_t stage, index_t product) const {
    unroll<lds.d_q_boxes()>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
      store_d_queries<4>(stages.block_lds + d_q_place(stage, product * lds.d_q_boxes() + i),
                         d_q.thread_buffer.data() + 32 * i);
    });
  }
  /// Adds them to the float copy of dQ, in one piece for each box.
  TILEWRIGHT_HD void add_d_queries(const attention_problem& problem, index_t query, index_t stage,
                                   index_t product) const {
    const index_t row = query + wave() * 16;
    exec::fence_async_proxy();
    exec::wave_sync();
    if (exec::lane_id() != 0 || row >= problem.queries) return;
    float* const copy = backward_workspace(device.args, problem.batch, problem.head).d_q(device.args, Policy::head_dim);
    for (index_t i = 0; i < lds.d_q_boxes(); ++i) {
      const index_t in_own = product * lds.d_q_boxes() + i, box = first_box(boxes_of_k) + in_own;
      if (box < consumer * boxes) continue;  // another consumer has it
      exec::tma_reduce_add(copy + address_of_d_query(row, box * 64, Policy::head_dim),
                           stages.base + unsigned(d_q_place(stage, in_own)),
                           min(constant(index_t(64)), Policy::head_dim - box * 64) * 64);
    }
    exec::tma_store_commit();
  }

  /// Writes the consumer's columns of dV or dK to the boxes of V or K, which all consumers have read, and stores them.
  /// `all`: boxes of V or K.
  TILEWRIGHT_HD void store(const gradient& transposed, float factor, const exec::tensor_map& map, index_t offset,
                           index_t all, multi_index<5> position) const {
    constexpr index_t box_bytes = lds.k().box_bytes(), keys = Policy::keys;
    const auto words = round_to_words<T>(transposed, factor);
    const index_t lane = modulo(thread, 32), matrix = divide(lane, 8), first = first_box(all),
                  own_first = consumer * boxes;
    unroll<boxes*(keys / 16)>([&](auto n) TILEWRIGHT_INLINE_LAMBDA {
      constexpr index_t box = n / (keys / 16), i = n % (keys / 16), word = box * (keys / 4) + 4 * i;
      if (first + box < own_first) return;  // another consumer has it
      exec::stmatrix_x4<true>(
          stages.block_lds,
          offset + (first + box) * box_bytes +
              chunk_address<keys>(16 * i + divide(matrix, 2) * 8 + modulo(lane, 8), wave() * 2 + modulo(matrix, 2)),
          array<unsigned, 4>{{words[word], words[word + 1], words[word + 2], words[word + 3]}});
    });
    exec::fence_async_proxy();
    sync_own_warpgroup();
    if (thread != 0) return;
    position[0] = own_first * 64;
    store_boxes<T>(map, stages.base + unsigned(offset + own_first * box_bytes), min(boxes, max(all - own_first, 0)),
                   box_bytes, position);
  }

  /// The gradients of the rows of K and V from `key` on; `steps`: of the queries that see them.
  TILEWRIGHT_HD void operator()(attention_problem problem, index_t key, steps_type steps) {
    const seen_band seen(device.args.window, problem);
    const index_t last_head = problem.head + divide(device.args.heads, device.args.kv_heads) - 1;
    stages.k_full().wait(unit.phase);
    stages.v_full().wait(unit.phase);
    unit.advance();
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
    }
    fence_operand(d_v);
    fence_operand(d_k);
    sync_consumers();  // all have read K and V
    const multi_index<5> position = key_position(device.args, problem, key);
    store(d_v, 1, device.d_v, lds.v_offset(), boxes_of_v, position);
    store(d_k, device.args.scale, device.d_k, 0, boxes_of_k, position);
    if (thread == 0) {
      exec::tma_store_wait_read<0>();
      stages.k_empty().arrive();
      stages.v_empty().arrive();
    }
  }
};

}  // namespace tilewright::detail
#endif
