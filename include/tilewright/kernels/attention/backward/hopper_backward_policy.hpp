// SPDX-License-Identifier: MIT
// How attention's gradients on Hopper divide a block: tiles, products, what lies where in LDS; and the stages there:
// places, barriers, what the producer copies.
#pragma once

#include <tilewright/block/mma/block_tile.hpp>
#include <tilewright/block/mma/wgmma_operand.hpp>
#include <tilewright/block/pipeline/mbarrier_pipeline.hpp>
#include <tilewright/core/arch/tensor_map.hpp>
#include <tilewright/kernels/attention/backward/backward_args.hpp>
#include <tilewright/kernels/attention/backward/detail/backward_scores.hpp>
#include <tilewright/kernels/attention/backward/detail/gradient_steps.hpp>
#include <tilewright/kernels/attention/detail/attention_boxes.hpp>
#include <tilewright/kernels/attention/detail/attention_order.hpp>

namespace tilewright {

/// Rows of Q of a step, 64 or 128, and steps whose Q and dO fit in LDS. A block owns 128 rows of K and V, 64 for each
/// of two consumers. Deterministic: blocks add to dQ in the order of their keys, so that it has the same bits in each
/// run.
struct hopper_backward_tile {
  index_t queries;                ///< rows of Q of a step: 64 or 128
  index_t stages = 2;             ///< of the pipeline of Q and dO
  bool is_deterministic = false;  ///< dQ is added up in a fixed order: results repeat bit for bit, but take longer
  /// With is_deterministic: additions of a step end, and let the next block add, in the step after. On an H200 0.94 to
  /// 1.25 times as fast, 1.05 to 1.25 but for 64 columns and up to 4,096 rows without a mask.
  bool releases_late = false;
  friend constexpr bool operator==(const hopper_backward_tile&, const hopper_backward_tile&) = default;
};

namespace detail {

/// The tile that was fastest on an H100 (docs/lab/performance.md).
TILEWRIGHT_HD constexpr hopper_backward_tile default_hopper_backward_tile(index_t head_dim) {
  return {head_dim <= 64 ? 128 : 64};
}

/// Where K, V and the stages of Q and dO lie in a block's LDS, in bytes; they begin it.
struct gradient_operands {
  hopper_backward_tile tile;
  index_t head_dim, value_dim, element_bytes;
  index_t keys = 128, consumers = 2;  // of a block

  static constexpr index_t barrier_bytes = 256;
  TILEWRIGHT_HD constexpr wgmma_operand k() const { return {keys, element_bytes, true, head_dim}; }
  TILEWRIGHT_HD constexpr wgmma_operand v() const { return {keys, element_bytes, true, value_dim}; }
  TILEWRIGHT_HD constexpr wgmma_operand q() const { return {tile.queries, element_bytes, true, head_dim}; }
  TILEWRIGHT_HD constexpr wgmma_operand d_o() const { return {tile.queries, element_bytes, true, value_dim}; }

  TILEWRIGHT_HD constexpr index_t v_offset() const { return k().bytes(); }
  TILEWRIGHT_HD constexpr index_t stages_offset() const { return v_offset() + v().bytes(); }
  TILEWRIGHT_HD constexpr index_t stage_bytes() const { return q().bytes() + d_o().bytes(); }
  TILEWRIGHT_HD constexpr index_t end_of_stages() const { return stages_offset() + tile.stages * stage_bytes(); }
  /// For each query of a stage: the log-sum-exp, the sum of dO O.
  TILEWRIGHT_HD constexpr index_t numbers_bytes() const { return tile.stages * tile.queries * 8; }
  TILEWRIGHT_HD constexpr bool are_sound() const {
    return k().is_sound() && v().is_sound() && q().is_sound() && d_o().is_sound();
  }
};

/// Then two buffers of dS, dQ, numbers of rows, barriers.
struct hopper_backward_lds : gradient_operands {
  static constexpr bool is_wide = false;
  /// The same places as operands B whose k are the rows.
  TILEWRIGHT_HD constexpr wgmma_operand q_columns() const { return {head_dim, element_bytes, false, tile.queries}; }
  TILEWRIGHT_HD constexpr wgmma_operand d_o_columns() const { return {value_dim, element_bytes, false, tile.queries}; }
  /// Columns of dQ = dS K that a consumer computes. With 128 queries each consumer has 64 of them, else 64 columns of
  /// K.
  TILEWRIGHT_HD constexpr index_t d_q_columns() const { return tile.queries == 128 ? head_dim : 64; }
  TILEWRIGHT_HD constexpr wgmma_operand d_s() const { return {tile.queries, element_bytes, false, keys}; }
  TILEWRIGHT_HD constexpr wgmma_operand k_columns() const { return {d_q_columns(), element_bytes, false, keys}; }

  TILEWRIGHT_HD constexpr index_t d_s_offset() const { return end_of_stages(); }
  /// Boxes of all rows of K x 128 bytes: dS while it is an operand, then dV and dK, of which a wave stores its 16 rows.
  TILEWRIGHT_HD constexpr index_t d_s_boxes() const { return 2 * d_s().num_boxes(); }
  TILEWRIGHT_HD constexpr index_t rows_of_stores() const { return 16; }
  /// Rows of dQ that are added to memory: 16 for each wave.
  TILEWRIGHT_HD constexpr index_t d_q_offset() const { return d_s_offset() + 2 * d_s().bytes(); }
  TILEWRIGHT_HD constexpr index_t d_q_bytes_of_wave() const { return 16 * d_q_columns() * 4; }
  TILEWRIGHT_HD constexpr index_t numbers_offset() const { return d_q_offset() + 8 * d_q_bytes_of_wave(); }
  TILEWRIGHT_HD constexpr index_t barriers_offset() const { return numbers_offset() + numbers_bytes(); }
  TILEWRIGHT_HD constexpr index_t bytes() const { return barriers_offset() + barrier_bytes; }
  TILEWRIGHT_HD constexpr bool is_sound() const {
    return are_sound() && d_s().is_sound() && bytes() <= arch::sm90::value.lds_bytes;
  }
};

/// For wide heads. Consumers divide the keys of S and dP, and the columns of dV, dK and dQ. Then P and dS, in one place
/// if there is no room for two; dQ, numbers of rows, barriers. dV and dK leave by way of the places of V and K.
struct wide_backward_lds : gradient_operands {
  static constexpr bool is_wide = true;
  /// Boxes of 64 columns that a consumer has of dV, dK and dQ.
  TILEWRIGHT_HD constexpr index_t boxes() const { return ceil_div(max(q().num_boxes(), d_o().num_boxes()), consumers); }
  TILEWRIGHT_HD constexpr index_t own_keys() const { return keys / consumers; }
  TILEWRIGHT_HD constexpr wgmma_operand own_k() const { return {own_keys(), element_bytes, true, head_dim, keys}; }
  TILEWRIGHT_HD constexpr wgmma_operand own_v() const { return {own_keys(), element_bytes, true, value_dim, keys}; }
  /// A consumer's columns of Q or dO as operand A whose k are the queries; those of K that one product of dQ has.
  TILEWRIGHT_HD constexpr wgmma_operand columns() const { return {64 * boxes(), element_bytes, false, tile.queries}; }
  TILEWRIGHT_HD constexpr wgmma_operand k_columns() const { return {64 * d_q_boxes(), element_bytes, false, keys}; }
  /// P or dS (queries, keys): operand A of dQ; operand B of dV and dK, whose k are the queries.
  TILEWRIGHT_HD constexpr wgmma_operand scores() const { return {tile.queries, element_bytes, true, keys}; }
  TILEWRIGHT_HD constexpr wgmma_operand scores_of_keys() const { return {keys, element_bytes, false, tile.queries}; }
  /// Beside accumulators of 80 keys and 128 columns there are registers for 64 columns of dQ.
  TILEWRIGHT_HD constexpr index_t d_q_boxes() const { return keys * boxes() > 128 ? 1 : boxes(); }

  /// dQ leaves by way of the consumer's own boxes of the stage, once dV and dK are complete.
  TILEWRIGHT_HD constexpr bool d_q_is_in_stage() const {
    return q().num_boxes() == boxes() * consumers && d_o().num_boxes() == boxes() * consumers;
  }
  static constexpr index_t d_q_bytes_of_wave = 16 * 64 * 4;  // of a box
  TILEWRIGHT_HD constexpr index_t bytes_with(index_t places_of_scores) const {
    return end_of_stages() + places_of_scores * scores().bytes() +
           (d_q_is_in_stage() ? 0 : consumers * boxes() * 4 * d_q_bytes_of_wave) + numbers_bytes() + barrier_bytes;
  }
  TILEWRIGHT_HD constexpr bool shares_scores() const { return bytes_with(2) > arch::sm90::value.lds_bytes; }

  TILEWRIGHT_HD constexpr index_t p_offset() const { return end_of_stages(); }
  TILEWRIGHT_HD constexpr index_t d_s_offset() const { return p_offset() + (shares_scores() ? 0 : scores().bytes()); }
  TILEWRIGHT_HD constexpr index_t d_q_offset() const { return d_s_offset() + scores().bytes(); }
  TILEWRIGHT_HD constexpr index_t numbers_offset() const { return barriers_offset() - numbers_bytes(); }
  TILEWRIGHT_HD constexpr index_t barriers_offset() const { return bytes() - barrier_bytes; }
  TILEWRIGHT_HD constexpr index_t bytes() const { return bytes_with(shares_scores() ? 1 : 2); }
  TILEWRIGHT_HD constexpr index_t rows_of_stores() const { return keys; }
  TILEWRIGHT_HD constexpr bool is_sound() const {
    return are_sound() && scores().is_sound() && own_k().is_sound() && bytes() <= arch::sm90::value.lds_bytes;
  }
};

/// Whether wide_backward_policy takes these head dimensions.
TILEWRIGHT_HD constexpr bool has_wide_gradients(index_t head_dim, index_t value_dim) {
  const index_t most = max(head_dim, value_dim), least = min(head_dim, value_dim);
  const bool same_boxes = ceil_div(head_dim, 64) == ceil_div(value_dim, 64);
  return head_dim % 32 == 0 && value_dim % 32 == 0 && 128 < most && most <= 256 &&
         (least == 128 || (least > 128 && same_boxes));
}

/// 96 keys for three consumers with 64 columns; 80 for two with 128, or 64 where dQ needs LDS of its own.
TILEWRIGHT_HD constexpr index_t default_wide_keys(index_t head_dim, index_t value_dim) {
  if (max(head_dim, value_dim) <= 192) return 96;
  return min(head_dim, value_dim) > 192 ? 80 : 64;
}

}  // namespace detail

/// attention_backward_policy for TMA and wgmma: compile for sm_90a. HeadDim and ValueDim: multiples of
/// 32 from 64 to 128. dQ is added up by atomic operations, in any order unless the tile is deterministic.
template <class T, index_t HeadDim, index_t ValueDim = HeadDim,
          hopper_backward_tile Tile = detail::default_hopper_backward_tile(HeadDim)>
struct wgmma_backward_policy : detail::hopper_attention_choices<T, HeadDim, ValueDim, attention_backward_args> {
  static_assert(sizeof(T) == 2, "wgmma_backward_policy: the elements are half_t or bfloat16_t");
  static_assert(HeadDim % 32 == 0 && ValueDim % 32 == 0 && 64 <= HeadDim && HeadDim <= 128 && 64 <= ValueDim &&
                    ValueDim <= 128,
                "wgmma_backward_policy: head dimensions are multiples of 32, from 64 to 128; use "
                "attention_backward_policy for others");
  static_assert((Tile.queries == 64 || Tile.queries == 128) && 2 <= Tile.stages && Tile.stages <= 4,
                "wgmma_backward_policy: a tile has 64 or 128 queries and 2 to 4 stages");
  static_assert(Tile.queries == 128 || HeadDim > 64,
                "wgmma_backward_policy: with 64 queries a step consumers share the columns of dQ, so HeadDim must "
                "be more than 64; use 128 queries");
  static_assert(Tile.is_deterministic || !Tile.releases_late,
                "wgmma_backward_policy: releases_late is of deterministic gradients; set is_deterministic, too");
  using detail::hopper_attention_choices<T, HeadDim, ValueDim, attention_backward_args>::op;
  static constexpr hopper_backward_tile tile = Tile;  ///< how a block works
  /// where its tensors are in LDS
  static constexpr detail::hopper_backward_lds lds{Tile, HeadDim, ValueDim, sizeof(T)};
  static_assert(lds.is_sound(),
                "wgmma_backward_policy: the stages need more LDS than the GPU has; use fewer stages or queries");
  static constexpr index_t keys = lds.keys;  ///< of a block; S and P are (keys, queries) here
  static constexpr block_tile s_tile{keys, Tile.queries, HeadDim, 8, 1, op};     ///< S (keys, queries) = K Q^T
  static constexpr block_tile d_p_tile{keys, Tile.queries, ValueDim, 8, 1, op};  ///< dP (keys, queries) = V dO^T
  static constexpr block_tile d_v_tile{keys, ValueDim, Tile.queries, 8, 1, op};  ///< dV (keys, d_v) = P dO
  static constexpr block_tile d_k_tile{keys, HeadDim, Tile.queries, 8, 1, op};   ///< dK (keys, d) = dS Q
  /// dQ (queries, d) = dS^T K
  static constexpr block_tile d_q_tile{Tile.queries, lds.d_q_columns(), keys, Tile.queries / 16, 1, op};
  using s_distribution = c_distribution<s_tile>;
  using d_v_distribution = c_distribution<d_v_tile>;
  using d_k_distribution = c_distribution<d_k_tile>;
  using d_q_distribution = c_distribution<d_q_tile>;
};

/// attention_backward_policy for TMA and wgmma and wide heads: compile for sm_90a. HeadDim and ValueDim: multiples of
/// 32, 160 or 192, or 224 or 256; one of both may be 128. Keys: rows of K and V of a block, 96 up to head dimensions of
/// 192, else 64 or 80. dQ is added up by atomic operations, in any order.
template <class T, index_t HeadDim, index_t ValueDim = HeadDim,
          index_t Keys = detail::default_wide_keys(HeadDim, ValueDim)>
struct wide_backward_policy : detail::hopper_attention_choices<T, HeadDim, ValueDim, attention_backward_args> {
  static_assert(sizeof(T) == 2, "wide_backward_policy: the elements are half_t or bfloat16_t");
  static constexpr index_t consumers = max(HeadDim, ValueDim) > 192 ? 2 : 3;  ///< warpgroups that multiply
  static_assert(detail::has_wide_gradients(HeadDim, ValueDim),
                "wide_backward_policy: head dimensions are multiples of 32: 160 or 192, or 224 or 256, and one of both "
                "may be 128; use wgmma_backward_policy or attention_backward_policy for others");
  static_assert(consumers == 3 ? Keys == 96 : Keys == 64 || Keys == 80,
                "wide_backward_policy: a block has 96 keys up to head dimensions of 192, else 64 or 80");
  using detail::hopper_attention_choices<T, HeadDim, ValueDim, attention_backward_args>::op;
  static constexpr index_t keys = Keys;            ///< of a block
  static constexpr hopper_backward_tile tile{64};  ///< how a block works
  /// where its tensors are in LDS
  static constexpr detail::wide_backward_lds lds{{tile, HeadDim, ValueDim, sizeof(T), Keys, consumers}};
  static_assert(lds.is_sound(), "wide_backward_policy: the block needs more LDS than the GPU has; use 64 keys");
  /// S (queries, own keys) = Q K^T
  static constexpr block_tile s_tile{tile.queries, lds.own_keys(), HeadDim, 4, 1, op};
  /// dP (queries, own keys) = dO V^T
  static constexpr block_tile d_p_tile{tile.queries, lds.own_keys(), ValueDim, 4, 1, op};
  /// dV^T (own columns, keys) = dO^T P; dK^T = Q^T dS
  static constexpr block_tile gradient_tile{lds.columns().rows, keys, tile.queries, 4, 1, op};
  /// dQ (queries, own columns) = dS K
  static constexpr block_tile d_q_tile{tile.queries, lds.k_columns().rows, keys, 4, 1, op};
  using s_distribution = c_distribution<s_tile>;
  using gradient_distribution = c_distribution<gradient_tile>;
  using d_q_distribution = c_distribution<d_q_tile>;
};

namespace detail {

/// What crosses to the device. Args is the policy's args_type.
template <class Args>
struct hopper_backward_device_args {
  exec::tensor_map q, k, v, d_o, d_k, d_v;
  Args args;
  attention_order order;
  index_t blocks;
};

}  // namespace detail

}  // namespace tilewright

#if TILEWRIGHT_HOPPER_PASS
namespace tilewright::detail {

/// The tile's registers are wgmma's, or have been: accesses stay on their side.
template <class Tile>
TILEWRIGHT_HD void fence_operand(Tile& tile) {
  for (float& x : tile.thread_buffer) exec::fence_operand(x);
}
/// A wave's boxes have left LDS, and may be written again.
TILEWRIGHT_HD void wait_for_boxes() {
  if (exec::lane_id() == 0) exec::tma_store_wait_read<0>();
  exec::wave_sync();
}

/// K and V of a block, once for each of its units; a ring of Q, dO and the numbers of their rows.
template <class Policy>
struct gradient_stages {
  using T = typename Policy::element_type;
  static constexpr auto lds = Policy::lds;
  static constexpr hopper_backward_tile tile = Policy::tile;
  using cursor = pipeline_state<tile.stages>;
  using unit_cursor = pipeline_state<1>;
  using steps_type = gradient_steps<Policy>;

  exec::lds_pointer block_lds;
  unsigned base = exec::lds_address(block_lds);

  TILEWRIGHT_HD exec::mbarrier barrier(index_t number) const {
    return {base + lds.barriers_offset() + number * exec::mbarrier::bytes};
  }
  TILEWRIGHT_HD exec::mbarrier k_full() const { return barrier(0); }
  TILEWRIGHT_HD exec::mbarrier v_full() const { return barrier(1); }
  TILEWRIGHT_HD exec::mbarrier k_empty() const { return barrier(2); }
  TILEWRIGHT_HD exec::mbarrier v_empty() const { return barrier(3); }
  TILEWRIGHT_HD exec::mbarrier full(index_t stage) const { return barrier(4 + stage); }
  TILEWRIGHT_HD exec::mbarrier empty(index_t stage) const { return full(tile.stages + stage); }

  /// All waves of both consumers have written dS.
  TILEWRIGHT_HD exec::mbarrier d_s_full(index_t buffer) const { return barrier(4 + 2 * tile.stages + buffer); }

  TILEWRIGHT_HD unsigned k() const { return base; }
  TILEWRIGHT_HD unsigned v() const { return base + lds.v_offset(); }
  TILEWRIGHT_HD unsigned q(index_t stage) const { return base + lds.stages_offset() + stage * lds.stage_bytes(); }
  TILEWRIGHT_HD unsigned d_o(index_t stage) const { return q(stage) + lds.q().bytes(); }
  /// The log-sum-exp, or the sum of dO O, of a stage's first query.
  TILEWRIGHT_HD static index_t exponents(index_t stage) { return lds.numbers_offset() + stage * tile.queries * 8; }
  TILEWRIGHT_HD static index_t deltas(index_t stage) { return exponents(stage) + tile.queries * 4; }

  TILEWRIGHT_HD void init_barriers() const {
    for (index_t i = 0; i < 2; ++i) {
      barrier(i).init(1);
      barrier(2 + i).init(lds.consumers);
      d_s_full(i).init(8);
    }
    for (index_t s = 0; s < tile.stages; ++s) {
      full(s).init(33);  // one thread for the copies, a wave for the numbers
      empty(s).init(4 * lds.consumers);
    }
  }

  /// One thread: copies the unit's rows of K and V once the unit before no longer needs the places.
  template <class Args>
  TILEWRIGHT_HD void fill_keys(unit_cursor& at, const Args& device, const attention_problem& p, index_t key) const {
    const multi_index<5> place = key_position(device.args, p, key);
    k_empty().wait(at.phase ^ 1);
    k_full().arrive_and_expect(lds.k().bytes());
    load_boxes<lds.k().num_boxes(), lds.k().box_bytes(), T>(k(), device.k, k_full(), place);
    v_empty().wait(at.phase ^ 1);
    v_full().arrive_and_expect(lds.v().bytes());
    load_boxes<lds.v().num_boxes(), lds.v().box_bytes(), T>(v(), device.v, v_full(), place);
    at.advance();
  }
  /// One thread: rows of Q and dO of a step.
  template <class Args>
  TILEWRIGHT_HD void fill_queries(cursor& at, const Args& device, const attention_problem& p, index_t query) const {
    const multi_index<5> place = query_position(device.args, p, query);
    const exec::mbarrier done = full(at.stage);
    empty(at.stage).wait(at.phase ^ 1);
    done.arrive_and_expect(lds.stage_bytes());
    load_boxes<lds.q().num_boxes(), lds.q().box_bytes(), T>(q(at.stage), device.q, done, place);
    load_boxes<lds.d_o().num_boxes(), lds.d_o().box_bytes(), T>(d_o(at.stage), device.d_o, done, place);
    at.advance();
  }
  /// One wave: the numbers of these rows. Probabilities of rows after the last one become zero.
  template <class Args>
  TILEWRIGHT_HD void fill_numbers(cursor& at, const Args& args, const attention_problem& p, index_t query) const {
    const backward_workspace space(args, p.batch, p.head);
    const exec::global_buffer from_exponents = exec::make_global_buffer(space.exponents, long_index_t(p.queries) * 4),
                              from_deltas = exec::make_global_buffer(space.deltas, long_index_t(p.queries) * 4);
    empty(at.stage).wait(at.phase ^ 1);
    for (index_t i = exec::lane_id(); i < tile.queries; i += 32) {
      const float exponent = exec::buffer_load<float>(from_exponents, (query + i) * 4);
      exec::lds_store(block_lds, exponents(at.stage) + 4 * i,
                      query + i < p.queries ? exponent : bit_cast<float>(0x7f800000u));
      exec::lds_store(block_lds, deltas(at.stage) + 4 * i, exec::buffer_load<float>(from_deltas, (query + i) * 4));
    }
    full(at.stage).arrive();
    at.advance();
  }
};

}  // namespace tilewright::detail
#endif
