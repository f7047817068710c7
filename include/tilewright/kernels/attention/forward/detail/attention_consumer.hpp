// SPDX-License-Identifier: MIT
// What a consumer of attention on Hopper does: products by wgmma, the softmax of one step during the products of the
// next.
#pragma once

#include <tilewright/kernels/attention/detail/attention_softmax.hpp>
#include <tilewright/kernels/attention/forward/hopper_attention_policy.hpp>

#if TILEWRIGHT_HOPPER_PASS
namespace tilewright::detail {

/// One thread of a consumer. Works on one unit after the other.
template <class Policy>
struct attention_consumer {
  using T = typename Policy::element_type;
  using result_type = typename Policy::result_type;
  using stages_type = attention_stages<Policy>;
  using registers = attention_registers<Policy>;
  using sums_type = attention_sums<Policy>;
  using device_args = hopper_attention_device_args<typename Policy::args_type>;
  static constexpr hopper_attention_tile tile = Policy::tile;
  static constexpr hopper_attention_lds lds = Policy::lds;
  static constexpr index_t first_turn_barrier = 1, first_skip_barrier = 4;

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
  sums_type sums{};
  attention_unit before{};  // whose sums these are: its first query, head and sequence

  /// Consumers start their products in turns: while the tensor cores work for one, the others compute exponentials.
  TILEWRIGHT_HD void wait_for_turn() const {
    if constexpr (tile.takes_turns && tile.consumers() > 1) exec::named_sync<256>(first_turn_barrier + consumer);
  }
  TILEWRIGHT_HD void pass_turn() const {
    if constexpr (tile.takes_turns && tile.consumers() > 1)
      exec::named_arrive<256>(first_turn_barrier + (consumer == tile.consumers() - 1 ? 0 : consumer + 1));
  }
  TILEWRIGHT_HD void begin() const {
    if (consumer == tile.consumers() - 1) pass_turn();
  }
  TILEWRIGHT_HD void end() {
    if (consumer == 0) wait_for_turn();
    flush();
    if (exec::lane_id() == 0) exec::tma_store_wait_read<0>();
  }

  /// Takes the turn.
  TILEWRIGHT_HD void start_scores() {
    stages.template full<0>(k_at.stage).wait(k_at.phase);
    wait_for_turn();
    const wgmma_tile_in_lds<lds.q()> q{stages.q_place(q_at.stage, consumer)};
    const wgmma_tile_in_lds<lds.k()> k{stages.template place<0>(k_at.stage)};
    block_gemm<Policy::scores_tile, T>(s, q, k, false);
  }
  TILEWRIGHT_HD void start_outputs() {
    stages.template full<1>(v_at.stage).wait(v_at.phase);
    const wgmma_tile_in_lds<lds.v()> v{stages.template place<1>(v_at.stage)};
    block_gemm(sums.o.template get<0>(), p, v, true);
  }
  template <index_t Which>
  TILEWRIGHT_HD void leave(typename stages_type::cursor& at) const {
    if (thread == 0) stages.template empty<Which>(at.stage).arrive();
    at.advance();
  }
  /// The tile is complete, and the stage that `at` names no longer needed.
  template <index_t Which, class Tile>
  TILEWRIGHT_HD void finish(Tile& tile_of_sums, typename stages_type::cursor& at) const {
    for (float& x : tile_of_sums.thread_buffer) exec::fence_operand(x);
    leave<Which>(at);
  }
  TILEWRIGHT_HD void finish_scores() { finish<0>(s, k_at); }
  TILEWRIGHT_HD void finish_outputs() { finish<1>(sums.o.template get<0>(), v_at); }

  TILEWRIGHT_HD void leave_q() {
    if (exec::lane_id() == 0) stages.q_empty(q_at.stage, consumer).arrive();
    q_at.advance();
  }

  /// Steps [first, last) of the keys of a unit; at least one. The last product of the unit before runs with the first.
  TILEWRIGHT_HD void operator()(const attention_problem& problem, index_t first, index_t last) {
    attention_problem mine = problem;
    mine.first_query += 64 * consumer;
    const index_range unmasked = mine.seen_by_all(device.args.window, 64);
    const index_t end = last;
    // Rows of other consumers may see more keys.
    last = max(first + tile.keys,
               min(last, first + round_up(max(mine.seen_by_any(device.args.window, 64).last - first, 0), tile.keys)));
    const auto add_step = [&](index_t key, auto rescale) TILEWRIGHT_INLINE_LAMBDA {
      if constexpr (!lds.o_replaces_q()) {
        if (key + tile.keys >= last) leave_q();
      }
      sums.add_step(s, device.args, problem, key, key < unmasked.first || key + tile.keys > unmasked.last, rescale);
    };
    if constexpr (lds.o_replaces_q()) flush();  // else no thread could fetch Q
    stages.q_full(q_at.stage, consumer).wait(q_at.phase);
    start_scores();
    if (has_probabilities)
      start_outputs();
    else
      exec::wgmma_commit();
    pass_turn();
    // With narrow heads it is faster to leave V's stage before the exponentials than to compute them meanwhile.
    constexpr bool leaves_late = Policy::value_dim > 64;
    exec::wgmma_wait<leaves_late ? 1 : 0>();
    finish_scores();
    const auto results = sums.finish_rows();
    if constexpr (!leaves_late) begin_unit(problem, results);
    add_step(first, [](const auto&) TILEWRIGHT_INLINE_LAMBDA {});  // O is not this unit's yet, or zero
    if constexpr (leaves_late) begin_unit(problem, results);
    p.assign(s);
    TILEWRIGHT_UNROLL(1)
    for (index_t key = first + tile.keys; key < last; key += tile.keys) {
      start_scores();
      start_outputs();
      pass_turn();
      exec::wgmma_wait<1>();
      finish_scores();
      bool is_far = false;
      typename sums_type::row_values factors{};
      add_step(key, [&](const auto& f) TILEWRIGHT_INLINE_LAMBDA {
        is_far = true;
        factors = f;
      });
      exec::wgmma_wait<0>();
      finish_outputs();
      if (is_far) [[unlikely]]
        sums.scale_outputs(factors);
      p.assign(s);
    }
    if (last < end) flush();
    for (; last < end; last += tile.keys) skip_step();
  }

  /// Writes the unit before once its last product has ended; then O is this unit's.
  TILEWRIGHT_HD void begin_unit(const attention_problem& problem, const typename sums_type::row_results& results) {
    exec::wgmma_wait<0>();
    if (has_probabilities) {
      finish_outputs();
      write_unit(results);
    }
    sums.o = {};
    before = {problem.first_query, problem.head, problem.batch};
    has_probabilities = true;
  }

  /// A step of which this consumer's rows see nothing.
  TILEWRIGHT_HD void skip_step() {
    wait_for_turn();
    pass_turn();
    stages.template full<0>(k_at.stage).wait(k_at.phase);
    stages.template full<1>(v_at.stage).wait(v_at.phase);
    exec::named_sync<128>(first_skip_barrier +
                          consumer);  // a wave that is late would mistake the next phase for this one
    leave<0>(k_at);
    leave<1>(v_at);
  }

  /// Multiplies the last probabilities and writes O.
  TILEWRIGHT_HD void flush() {
    if (!has_probabilities) return;
    has_probabilities = false;
    start_outputs();
    exec::wgmma_wait<0>();
    finish_outputs();
    write_unit(sums.finish_rows());
  }

  TILEWRIGHT_HD void write_unit(const typename sums_type::row_results& results) {
    const attention_problem problem = locate_attention(device.args, before.row, before.head, before.batch);
    sums.scale_outputs(results.factor);
    if (device.args.lse != nullptr) sums.store_log_sum_exp(results.log_sum_exp, device.args, problem);
    store(sums.o.template get<0>(), problem);
  }

  /// A wave's 16 rows of O.
  template <class Outputs>
  TILEWRIGHT_HD void store(const Outputs& o, const attention_problem& problem) {
    const index_t row = 64 * consumer + thread / 32 * 16, place = lds.o_offset() + row * lds.q().row_bytes;
    const auto words = round_to_words<result_type>(o, sizeof(T) == 1 ? problem.value_scale : 1);
    multi_index<5> at = query_position(device.args, problem, problem.first_query + row);
    constexpr index_t boxes = lds.o_boxes_at_once(), words_of_box = 16;
    unroll<ceil_div(lds.o_boxes(), boxes)>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
      constexpr index_t first = i * boxes, count = min(boxes, lds.o_boxes() - first);
      array<unsigned, min(count * words_of_box, decltype(words)::size() - first * words_of_box)> part;
      __builtin_memcpy(part.data(), words.data() + first * words_of_box, sizeof(part));
      if (exec::lane_id() == 0) exec::tma_store_wait_read<0>();
      exec::wave_sync();
      store_to_boxes<Policy::op, result_type>(block_lds + place, part, lds.q().box_bytes());
      exec::wave_sync();
      if (exec::lane_id() != 0) return;
      store_boxes<result_type>(device.o, stages.base + unsigned(place), count, lds.q().box_bytes(), at);
      at[0] += count * 64;
    });
    if (lds.o_replaces_q() && exec::lane_id() == 0) exec::tma_store_wait_read<0>();
    if constexpr (lds.o_replaces_q()) leave_q();
  }
};

}  // namespace tilewright::detail
#endif
