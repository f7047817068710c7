// SPDX-License-Identifier: MIT
// What a consumer of attention on Hopper does: wgmma, and the softmax of one step of keys during the MMAs of the next.
#pragma once

#include <tilewright/block/pipeline/order_barrier.hpp>
#include <tilewright/kernels/attention/detail/attention_softmax.hpp>
#include <tilewright/kernels/attention/forward/hopper_attention_policy.hpp>

#if TILEWRIGHT_HOPPER_PASS
namespace tilewright::detail {

/// One thread of a consumer, which works on one work tile after the other. A step of keys is a software pipeline:
///
///   wgmma   | S(i+1) = Q K(i+1)^T, O += P(i) V(i) | S(i+2) = Q K(i+2)^T, O += P(i+1) V(i+1) | ...
///   threads | wait for S(i+1) | softmax.update      | wait for S(i+2) | softmax.update        | ...
///
/// It does not drain between work tiles: the last P V of work tile i runs with the first S of work tile i + 1, in whose
/// first step O of work tile i is written.
template <class Policy>
struct attention_consumer {
  using T = typename Policy::element_type;
  using result_type = typename Policy::result_type;
  using stages_type = attention_stages<Policy>;
  using registers = attention_registers<Policy>;
  using softmax_type = attention_softmax<Policy>;
  using device_args = hopper_attention_device_args<typename Policy::args_type>;
  static constexpr hopper_attention_tile tile = Policy::tile;
  static constexpr hopper_attention_lds lds = Policy::lds;
  /// Named barriers of a block, of each consumer; 0 is block_sync's.
  enum named_barrier : index_t { consumers_in_order = 1, warps_of_consumer = 4 };

  const device_args& device;
  const stages_type& stages;
  exec::lds_pointer block_lds;
  index_t consumer;
  index_t thread = modulo(exec::thread_id(), 128);
  typename stages_type::cursor k_at{}, v_at{};
  typename stages_type::q_cursor q_at{};
  typename registers::scores s{};
  wgmma_tile_in_registers<Policy::values_tile, T> p{};  // of the last step, not yet multiplied if has_probabilities
  bool has_probabilities = false;
  softmax_type softmax{};
  attention_unit previous{};  // work tile of O and the softmax: its first query, part of a head, and sequence

  /// While the tensor cores work for one consumer, the others compute exponentials.
  TILEWRIGHT_HD order_barrier<tile.ordered ? tile.consumers() : 1, consumers_in_order> order() const {
    return {consumer};
  }
  TILEWRIGHT_HD void begin() const { order().open(); }
  TILEWRIGHT_HD void end() {
    order().drain();
    flush();
    if (exec::lane_id() == 0) exec::tma_store_wait_read<0>();
  }

  /// Issues S (queries, keys) = Q (queries, d) K^T (d, keys), after the consumer before.
  TILEWRIGHT_HD void issue_scores() {
    stages.template full<0>(k_at.stage).wait(k_at.phase);
    order().wait();
    const wgmma_tile_in_lds<lds.q()> q{stages.q_address(q_at.stage, consumer)};
    const wgmma_tile_in_lds<lds.k()> k{stages.template place<0>(k_at.stage)};
    block_gemm<Policy::scores_tile, T>(s, q, k, false);
  }
  /// Issues O (queries, d_v) += P (queries, keys) V (keys, d_v).
  TILEWRIGHT_HD void issue_outputs() {
    stages.template full<1>(v_at.stage).wait(v_at.phase);
    const wgmma_tile_in_lds<lds.v()> v{stages.template place<1>(v_at.stage)};
    block_gemm(softmax.o.template get<0>(), p, v, true);
  }
  template <index_t Which>
  TILEWRIGHT_HD void release(typename stages_type::cursor& at) const {
    if (thread == 0) stages.template empty<Which>(at.stage).arrive();
    at.advance();
  }
  /// The accumulators may be read, and the stage that `at` names is no longer needed.
  template <index_t Which, class Tile>
  TILEWRIGHT_HD void complete(Tile& accumulators, typename stages_type::cursor& at) const {
    for (float& x : accumulators.thread_buffer) exec::fence_operand(x);
    release<Which>(at);
  }
  TILEWRIGHT_HD void complete_scores() { complete<0>(s, k_at); }
  TILEWRIGHT_HD void complete_outputs() { complete<1>(softmax.o.template get<0>(), v_at); }

  TILEWRIGHT_HD void release_q() {
    if (exec::lane_id() == 0) stages.q_empty(q_at.stage, consumer).arrive();
    q_at.advance();
  }

  /// The steps of the keys of a work tile; at least one. The previous work tile's last P V runs with the first.
  TILEWRIGHT_HD void operator()(const attention_problem& problem, const attention_steps<Policy>& steps) {
    attention_problem mine = problem;
    mine.first_query += 64 * consumer;
    const index_range unmasked = mine.seen_by_all(device.args.window, 64);
    index_t key = steps.first(), next = key;
    // Rows of other consumers may see more keys.
    const index_t end = steps.keys.last, last = max(key + 1, min(end, mine.seen_by_any(device.args.window, 64).last));
    bool is_masked = true;
    // While the tensor cores work: with a block mask both read memory.
    const auto find_next = [&]() TILEWRIGHT_INLINE_LAMBDA {
      next = steps.after(key);
      is_masked = key < unmasked.first || key + tile.keys > unmasked.last || !steps.sees_all(mine.first_query, 64, key);
    };
    const auto update_softmax = [&](auto rescale) TILEWRIGHT_INLINE_LAMBDA {
      if constexpr (!lds.o_replaces_q()) {
        if (next >= last) release_q();
      }
      softmax.update(s, device.args, problem, key, is_masked, rescale);
    };
    if constexpr (lds.o_replaces_q()) flush();  // O of the previous work tile is where Q will be
    stages.q_full(q_at.stage, consumer).wait(q_at.phase);
    issue_scores();
    if (has_probabilities)
      issue_outputs();
    else
      exec::wgmma_commit();
    order().arrive();
    find_next();
    // With narrow heads it is faster to release V's stage before the exponentials than to compute them meanwhile.
    constexpr bool pv_overlaps_softmax = Policy::value_columns > 64;
    exec::wgmma_wait<pv_overlaps_softmax ? 1 : 0>();
    complete_scores();
    const auto results = finish_previous();
    if constexpr (!pv_overlaps_softmax) begin_tile(problem, results);
    update_softmax([](const auto&) TILEWRIGHT_INLINE_LAMBDA {});  // O is still the previous work tile's, or zero
    if constexpr (pv_overlaps_softmax) begin_tile(problem, results);
    p.assign(s);
    TILEWRIGHT_UNROLL(1)
    for (key = next; key < last; key = next) {
      issue_scores();   // S (queries, keys) = Q (queries, d) K^T, of this step
      issue_outputs();  // O (queries, d_v) += P (queries, keys) V, of the step before
      order().arrive();
      find_next();
      exec::wgmma_wait<1>();
      complete_scores();
      bool must_rescale = false;
      typename softmax_type::row_values factors{};
      update_softmax([&](const auto& f) TILEWRIGHT_INLINE_LAMBDA {
        must_rescale = true;
        factors = f;
      });
      exec::wgmma_wait<0>();
      complete_outputs();
      if (must_rescale) [[unlikely]]
        softmax.scale_outputs(factors);
      p.assign(s);
    }
    if (key < end) flush();
    for (; key < end; key = steps.after(key)) skip_step();
  }

  /// Writes O of the previous work tile once its last P V has ended; then O is this work tile's.
  TILEWRIGHT_HD void begin_tile(const attention_problem& problem, const typename softmax_type::row_results& results) {
    exec::wgmma_wait<0>();
    if (has_probabilities) {
      complete_outputs();
      store_outputs(results);
    }
    softmax.o = {};
    previous = {problem.first_query, problem.head * Policy::value_parts + problem.first_column / Policy::value_columns,
                problem.batch};
    has_probabilities = true;
  }

  /// A step of which this consumer's rows see nothing.
  TILEWRIGHT_HD void skip_step() {
    order().wait();
    order().arrive();
    stages.template full<0>(k_at.stage).wait(k_at.phase);
    stages.template full<1>(v_at.stage).wait(v_at.phase);
    exec::named_sync<128>(warps_of_consumer + consumer);  // a warp that is late would take the next phase for this one
    release<0>(k_at);
    release<1>(v_at);
  }

  /// Multiplies the last probabilities and writes O.
  TILEWRIGHT_HD void flush() {
    if (!has_probabilities) return;
    has_probabilities = false;
    issue_outputs();
    exec::wgmma_wait<0>();
    complete_outputs();
    store_outputs(finish_previous());
  }

  TILEWRIGHT_HD typename softmax_type::row_results finish_previous() {
    return softmax.finish_rows(sink_of_head(device.args, divide(previous.head, Policy::value_parts)));
  }
  TILEWRIGHT_HD void store_outputs(const typename softmax_type::row_results& results) {
    const attention_problem problem = locate_part<Policy>(device.args, previous.row, previous.head, previous.batch);
    softmax.scale_outputs(results.factor);
    if (device.args.lse != nullptr && problem.first_column == 0)
      softmax.store_log_sum_exp(results.log_sum_exp, device.args, problem);
    store(softmax.o.template get<0>(), problem);
  }

  /// A wave's 16 rows of O.
  template <class Outputs>
  TILEWRIGHT_HD void store(const Outputs& o, const attention_problem& problem) {
    const index_t row = 64 * consumer + thread / 32 * 16, place = lds.o_offset() + row * lds.q().row_bytes;
    const auto words = round_to_words<result_type>(o, sizeof(T) == 1 ? problem.value_scale : 1);
    multi_index<5> at = query_position(device.args, problem, problem.first_query + row);
    at[0] = problem.first_column;
    constexpr index_t boxes = lds.o_boxes_at_once(), words_of_box = 16;
    unroll<ceil_div(lds.o_boxes(), boxes)>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
      constexpr index_t first = i * boxes, count = min(boxes, lds.o_boxes() - first);
      array<unsigned, min(count * words_of_box, decltype(words)::size() - first * words_of_box)> chunk;
      __builtin_memcpy(chunk.data(), words.data() + first * words_of_box, sizeof(chunk));
      if (exec::lane_id() == 0) exec::tma_store_wait_read<0>();
      exec::wave_sync();
      store_to_boxes<Policy::op, result_type>(block_lds + place, chunk, lds.q().box_bytes());
      exec::wave_sync();
      if (exec::lane_id() != 0) return;
      store_boxes<result_type>(device.o, stages.base + unsigned(place), count, lds.q().box_bytes(), at);
      at[0] += count * 64;
    });
    if (lds.o_replaces_q() && exec::lane_id() == 0) exec::tma_store_wait_read<0>();
    if constexpr (lds.o_replaces_q()) release_q();
  }
};

}  // namespace tilewright::detail
#endif
