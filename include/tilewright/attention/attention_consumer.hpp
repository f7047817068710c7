// SPDX-License-Identifier: MIT
// What a consumer of attention on Hopper does: products by wgmma, the softmax of one step during the products of the
// next.
#pragma once

#include <tilewright/attention/attention_softmax.hpp>
#include <tilewright/attention/attention_stages.hpp>
#include <tilewright/mma/fragment_store.hpp>
#include <tilewright/mma/wgmma_gemm.hpp>

#if TILEWRIGHT_HOPPER_PASS
namespace tilewright::detail {

/// One thread of a consumer. Works on one unit after the other.
template <class Policy>
struct attention_consumer {
  using T = typename Policy::element_type;
  using stages_type = attention_stages<Policy>;
  using registers = attention_registers<Policy>;
  using sums_type = attention_sums<Policy>;
  using device_args = specialized_attention_args<typename Policy::args_type>;
  static constexpr specialized_attention_tile tile = Policy::tile;
  static constexpr specialized_attention_lds lds = Policy::lds;
  static constexpr index_t first_turn_barrier = 1;

  const device_args& device;
  const stages_type& stages;
  exec::lds_pointer block_lds;
  index_t consumer;
  index_t thread = modulo(exec::thread_id(), 128);
  typename stages_type::cursor k_at{}, v_at{};
  unsigned q_parity = 0;
  typename registers::scores s{};
  wgmma_tile_in_registers<Policy::values_tile, T> p{};

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
  TILEWRIGHT_HD void end() const {
    if (consumer == 0) wait_for_turn();
    if (exec::lane_id() == 0) exec::wait_for_bulk_stores_to_read<0>();
  }

  TILEWRIGHT_HD void start_scores() {
    stages.template full<0>(k_at.stage).wait(k_at.parity);
    const wgmma_tile_in_lds<lds.q()> q{stages.base + unsigned(consumer * 64 * lds.q().row_bytes)};
    const wgmma_tile_in_lds<lds.k()> k{stages.template place<0>(k_at.stage)};
    block_gemm<Policy::scores_tile, T>(s, q, k, false);
  }
  TILEWRIGHT_HD void start_outputs(sums_type& sums) {
    stages.template full<1>(v_at.stage).wait(v_at.parity);
    const wgmma_tile_in_lds<lds.v()> v{stages.template place<1>(v_at.stage)};
    block_gemm(sums.o.template get<0>(), p, v, true);
  }
  /// The tile is complete, and the stage that `at` names no longer needed.
  template <index_t Which, class Tile>
  TILEWRIGHT_HD void finish(Tile& tile_of_sums, typename stages_type::cursor& at) const {
    for (float& x : tile_of_sums.thread_buffer) exec::settle(x);
    if (thread == 0) stages.template empty<Which>(at.stage).arrive();
    at.advance();
  }
  TILEWRIGHT_HD void finish_scores() { finish<0>(s, k_at); }
  TILEWRIGHT_HD void finish_outputs(sums_type& sums) { finish<1>(sums.o.template get<0>(), v_at); }

  TILEWRIGHT_HD void leave_q() const {
    if (exec::lane_id() == 0) stages.q_empty(consumer).arrive();
  }

  /// Steps [first, last) of the keys, the last one first; first < last.
  TILEWRIGHT_HD void add_steps(sums_type& sums, const attention_problem& problem, index_t first, index_t last) {
    attention_problem mine = problem;
    mine.first_query += 64 * consumer;
    const index_range unmasked = mine.seen_by_all(device.args.window, 64);
    const auto is_masked = [&](index_t key) TILEWRIGHT_INLINE_LAMBDA {
      return key < unmasked.first || key + tile.keys > unmasked.last;
    };
#ifdef AT_ASC
    index_t key = first;
#else
    index_t key = last - tile.keys;
#endif
    start_scores();
    exec::wgmma_wait<0>();
    finish_scores();
    sums.add_step(s, device.args, problem, key, is_masked(key),
                  [](const auto&) TILEWRIGHT_INLINE_LAMBDA {});  // O is zero
    p.assign(s);
    TILEWRIGHT_UNROLL(1)
#ifdef AT_ASC
    for (key += tile.keys; key < last; key += tile.keys) {
#else
    for (key -= tile.keys; key >= first; key -= tile.keys) {
#endif
      wait_for_turn();
      start_scores();
      start_outputs(sums);
      pass_turn();
      exec::wgmma_wait<1>();
      finish_scores();
      bool is_far = false;
      typename sums_type::row_values factors{};
      sums.add_step(s, device.args, problem, key, is_masked(key), [&](const auto& f) TILEWRIGHT_INLINE_LAMBDA {
        is_far = true;
        factors = f;
      });
      exec::wgmma_wait<0>();
      finish_outputs(sums);
      if (is_far) [[unlikely]]
        sums.scale_outputs(factors);
      p.assign(s);
    }
    if constexpr (!lds.o_replaces_q()) leave_q();
    start_outputs(sums);
    exec::wgmma_wait<0>();
    finish_outputs(sums);
  }

  TILEWRIGHT_HD void operator()(const attention_problem& problem, index_t first, index_t last) {
    sums_type sums;
    stages.q_full(consumer).wait(q_parity);
    q_parity ^= 1;
    if (first < last) {
      add_steps(sums, problem, first, last);
    } else if constexpr (!lds.o_replaces_q()) {
      leave_q();
    }
    sums.finish();
    if (device.args.lse != nullptr) sums.store_log_sum_exp(device.args, problem);
    store(sums.o.template get<0>(), problem);
  }

  /// A wave's 16 rows of O in LDS: boxes of 128 bytes along the head dimension.
  static constexpr swizzled_layout box_layout = bulk_swizzle(16, 128, sizeof(T));
  static constexpr index_t box_columns = 128 / index_t(sizeof(T));
  static constexpr arch::lane_map result_map = arch::describe(Policy::op).c;
  using box_distribution = tile_distribution<number<wave_tile_encoding(box_columns / 16, result_map)>::value>;
  using box_addresses =
      tile_distribution<number<wave_tile_encoding(box_columns / 16, ldmatrix_address_map(result_map))>::value>;

  template <class Outputs>
  TILEWRIGHT_HD void store(const Outputs& o, const attention_problem& problem) const {
    constexpr auto descriptor = make_lds_descriptor<box_layout>();
    const index_t row = 64 * consumer + thread / 32 * 16;
    const index_t place = lds.o_offset() + row * lds.q().row_bytes;
    const auto window = make_tile_window(make_tensor_view<address_space_enum::lds, T>(block_lds + place, descriptor),
                                         make_tuple(number<16>{}, number<box_columns>{}), {}, box_addresses{});
    const auto rounded = cast_tile<T>(o);
    if (exec::lane_id() == 0) exec::wait_for_bulk_stores_to_read<0>();
    exec::wave_sync();
    unroll<lds.o_boxes()>([&](auto box) TILEWRIGHT_INLINE_LAMBDA {
      static_distributed_tensor<T, box_distribution> part{};
      constexpr index_t first = box * box_distribution::num_elements;
      constexpr index_t count = min(box_distribution::num_elements, Outputs::distribution_type::num_elements - first);
      for (index_t i = 0; i < count; ++i) part.thread_buffer[i] = rounded.thread_buffer[first + i];
      store_fragments(window, part, box * lds.q().box_bytes());
    });
    exec::wave_sync();
    if (exec::lane_id() == 0) {
      exec::fence_async_proxy();
      multi_index<4> at = stages_type::query_position(device.args, problem, row);
      for (index_t box = 0; box < lds.o_boxes(); ++box) {
        exec::bulk_store(device.o, stages.base + unsigned(place + box * lds.q().box_bytes()), at);
        at[0] += box_columns;
      }
      exec::commit_bulk_stores();
      if constexpr (lds.o_replaces_q()) exec::wait_for_bulk_stores_to_read<0>();
    }
    if constexpr (lds.o_replaces_q()) leave_q();
  }
};

}  // namespace tilewright::detail
#endif
