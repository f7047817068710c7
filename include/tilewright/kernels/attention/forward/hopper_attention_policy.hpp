// SPDX-License-Identifier: MIT
// How attention on Hopper divides a block: roles of warpgroups, tiles, what lies where in LDS; and the stages there
// that its producer fills by TMA: places, barriers, coordinates.
#pragma once

#include <tilewright/block/mma/wgmma_operand.hpp>
#include <tilewright/block/pipeline/mbarrier_pipeline.hpp>
#include <tilewright/core/arch/tensor_map.hpp>
#include <tilewright/kernels/attention/attention_policy.hpp>
#include <tilewright/kernels/attention/detail/attention_boxes.hpp>
#include <tilewright/kernels/attention/detail/attention_order.hpp>

namespace tilewright {

/// Rows of Q of a block, 64 for each of its 1 to 3 consumers; keys of a step, a multiple of 16; steps whose K and V fit
/// in LDS. One more warpgroup starts TMA loads.
struct hopper_attention_tile {
  /// Rows of Q of a block, 64 for each consumer; keys of a step.
  index_t queries, keys;
  index_t stages = 2;   ///< of the pipelines of K and V
  bool ordered = true;  ///< consumers issue MMAs one after the other: see order_barrier
  index_t blocks = 1;   ///< of an SM at the same time

  /// Warpgroups that compute, with 64 rows of Q each.
  TILEWRIGHT_HD constexpr index_t consumers() const { return queries / 64; }
  /// Threads: consumers and a warpgroup of producers.
  TILEWRIGHT_HD constexpr index_t block_size() const { return (consumers() + 1) * 128; }
  /// What the copying warpgroup keeps of the registers that threads start with, and what consumers take. A single
  /// consumer of a single block has as many as there are.
  TILEWRIGHT_HD constexpr detail::role_registers registers(index_t element_bytes) const {
    if (consumers() * blocks == 1) return {0, 0};
    const index_t all = 65536 / (blocks * block_size()) / 8 * 8 * (consumers() + 1);
    const index_t producer = (consumers() == 3 ? 32 : 24) + (element_bytes == 1 ? 24 : 0);
    return {producer, min(240, (all - producer) / consumers() / 8 * 8)};
  }
  friend constexpr bool operator==(const hopper_attention_tile&, const hopper_attention_tile&) = default;
};

namespace detail {

/// Tiles that were fastest on an H100 (docs/lab/performance.md).
TILEWRIGHT_HD constexpr hopper_attention_tile default_hopper_attention_tile(index_t dim, index_t element_bytes) {
  if (element_bytes == 1)
    return dim <= 64    ? hopper_attention_tile{192, 128}
           : dim <= 128 ? hopper_attention_tile{192, 96}
           : dim <= 256 ? hopper_attention_tile{128, 96, 2, false}
                        : hopper_attention_tile{128, 64, 2, false};
  if (dim <= 64) return {192, 128, 2, false};
  if (dim <= 128) return {192, 80};
  if (dim <= 192) return {128, 96};
  return {128, dim <= 256 ? 80 : 32, 2, false};
}

/// Where everything lies in a block's LDS, in bytes: Q, stages of K and V, O, barriers. wgmma takes 8-bit elements of V
/// only with contiguous keys, so there are also stages of its rows, which the producer transposes.
struct hopper_attention_lds {
  hopper_attention_tile tile;
  index_t head_dim, value_dim, element_bytes;

  TILEWRIGHT_HD constexpr wgmma_operand q() const { return {tile.queries, element_bytes, true, head_dim}; }
  TILEWRIGHT_HD constexpr wgmma_operand k() const { return {tile.keys, element_bytes, true, head_dim}; }
  TILEWRIGHT_HD constexpr bool transposes_v() const { return element_bytes == 1; }
  TILEWRIGHT_HD constexpr wgmma_operand v() const { return {value_dim, element_bytes, transposes_v(), tile.keys}; }
  TILEWRIGHT_HD constexpr wgmma_operand rows_of_v() const { return {tile.keys, element_bytes, true, value_dim}; }

  static constexpr index_t barrier_bytes = 256;
  TILEWRIGHT_HD constexpr index_t k_offset() const { return 0; }
  TILEWRIGHT_HD constexpr index_t v_offset() const { return k_offset() + tile.stages * k().bytes(); }
  TILEWRIGHT_HD constexpr index_t rows_of_v_offset() const { return v_offset() + tile.stages * v().bytes(); }
  TILEWRIGHT_HD constexpr index_t q_offset() const {
    return rows_of_v_offset() + (transposes_v() ? tile.stages * rows_of_v().bytes() : 0);
  }
  /// O is written to LDS as boxes of 128 bytes along the head dimension, like Q: to a place of its own if there is
  /// room, else to that of Q, as many boxes at a time as Q has. If there is still room, Q of the next unit comes while
  /// this one is in use.
  TILEWRIGHT_HD constexpr index_t o_boxes() const { return ceil_div(value_dim * 2, 128); }
  TILEWRIGHT_HD constexpr index_t o_bytes() const { return o_boxes() * q().box_bytes(); }
  TILEWRIGHT_HD constexpr index_t room() const {
    return arch::sm90::value.lds_bytes - barrier_bytes - q_offset() - q().bytes();
  }
  TILEWRIGHT_HD constexpr bool o_replaces_q() const { return room() < o_bytes(); }
  TILEWRIGHT_HD constexpr index_t o_boxes_at_once() const { return o_replaces_q() ? q().num_boxes() : o_boxes(); }
  TILEWRIGHT_HD constexpr index_t q_stages() const { return room() < o_bytes() + q().bytes() ? 1 : 2; }
  TILEWRIGHT_HD constexpr index_t o_offset() const {
    return q_offset() + (o_replaces_q() ? 0 : q_stages() * q().bytes());
  }
  TILEWRIGHT_HD constexpr index_t barriers_offset() const {
    return q_offset() + q_stages() * q().bytes() + (o_replaces_q() ? 0 : o_bytes());
  }
  /// Full and empty: of Q, K, V, and V's rows.
  TILEWRIGHT_HD constexpr index_t num_barriers() const {
    return 2 * (q_stages() * tile.consumers() + (transposes_v() ? 3 : 2) * tile.stages);
  }
  TILEWRIGHT_HD constexpr index_t bytes() const { return barriers_offset() + barrier_bytes; }
  TILEWRIGHT_HD constexpr bool is_sound() const {
    return q().is_sound() && k().is_sound() && v().is_sound() && bytes() <= arch::sm90::value.lds_bytes &&
           num_barriers() * 8 <= barrier_bytes;
  }
};

}  // namespace detail

/// attention_policy for TMA and wgmma: compile for sm_90a. HeadDim and ValueDim: multiples of 32 from 64 to 256, and of
/// 128 to 512.
template <class T, index_t HeadDim, index_t ValueDim = HeadDim,
          hopper_attention_tile Tile = detail::default_hopper_attention_tile(max(HeadDim, ValueDim), sizeof(T))>
struct hopper_attention_policy : detail::hopper_attention_choices<T, HeadDim, ValueDim, attention_args> {
  static_assert(__is_same(T, half_t) || __is_same(T, bfloat16_t) || __is_same(T, fp8_ocp_t),
                "hopper_attention_policy: the elements are half_t, bfloat16_t or fp8_ocp_t");
  static_assert(detail::is_head_dim(HeadDim, 64) && detail::is_head_dim(ValueDim, 64),
                "hopper_attention_policy: head dimensions are multiples of 32, from 64 to 256, or 384 or 512");
  static_assert(Tile.queries % 64 == 0 && 64 <= Tile.queries && Tile.queries <= 192 &&
                    Tile.keys % (32 / sizeof(T)) == 0 && 32 <= Tile.keys && Tile.keys <= 256 && 2 <= Tile.stages &&
                    Tile.stages <= 4,
                "hopper_attention_policy: a tile has 64, 128 or 192 queries, 32 to 256 keys, a multiple of 16, of "
                "32 with 8-bit elements, and 2 to 4 stages");
  using choices = detail::hopper_attention_choices<T, HeadDim, ValueDim, attention_args>;
  using choices::op, choices::value_columns;
  static constexpr hopper_attention_tile tile = Tile;  ///< how a block works
  /// where its tensors are in LDS
  static constexpr detail::hopper_attention_lds lds{Tile, HeadDim, value_columns, sizeof(T)};
  static_assert(lds.is_sound(),
                "hopper_attention_policy: Q and the stages need more LDS than the GPU has; use fewer keys or stages");
  /// S = Q K^T and O = P V of a step.
  static constexpr block_tile scores_tile{Tile.queries, Tile.keys, HeadDim, 4 * Tile.consumers(), 1, op};
  /// O (queries, columns of values) = P (queries, keys) V
  static constexpr block_tile values_tile{Tile.queries, value_columns, Tile.keys, 4 * Tile.consumers(), 1, op};
  using scores_distribution = c_distribution<scores_tile>;
  using outputs_distribution = c_distribution<values_tile>;
};

namespace detail {

template <class Policy>
  requires(arch::is_wgmma(Policy::op))
struct attention_registers<Policy> {
  using scores = static_distributed_tensor<float, typename Policy::scores_distribution>;
  using outputs = tuple<static_distributed_tensor<float, typename Policy::outputs_distribution>>;
};

/// What crosses to the device. Args is the policy's args_type.
template <class Args>
struct hopper_attention_device_args {
  exec::tensor_map q, k, v, o;
  Args args;
  attention_order order;
  index_t blocks;
};

}  // namespace detail

}  // namespace tilewright

#if TILEWRIGHT_HOPPER_PASS
namespace tilewright::detail {

/// The mbarriers and stages of a block: what its roles wait for and release. Policy is a hopper_attention_policy.
template <class Policy>
struct attention_stages {
  static constexpr hopper_attention_lds lds = Policy::lds;
  static constexpr hopper_attention_tile tile = Policy::tile;
  using cursor = pipeline_state<tile.stages>;
  using q_cursor = pipeline_state<lds.q_stages()>;
  /// The ring that takes copies of V, and waves of the producer that transpose its rows.
  static constexpr index_t copies_of_v = lds.transposes_v() ? 2 : 1, transposing_waves = 2;

  unsigned base;  // of the block's LDS

  TILEWRIGHT_HD exec::mbarrier barrier(index_t number) const {
    return {base + lds.barriers_offset() + number * exec::mbarrier::bytes};
  }
  /// Q of a consumer has come; its four waves no longer need the place.
  TILEWRIGHT_HD exec::mbarrier q_full(index_t stage, index_t consumer) const {
    return barrier(stage * tile.consumers() + consumer);
  }
  TILEWRIGHT_HD exec::mbarrier q_empty(index_t stage, index_t consumer) const {
    return q_full(lds.q_stages() + stage, consumer);
  }
  /// Its 64 rows in the first box.
  TILEWRIGHT_HD unsigned q_address(index_t stage, index_t consumer) const {
    return base + lds.q_offset() + stage * lds.q().bytes() + consumer * 64 * lds.q().row_bytes;
  }

  /// A ring of K (Which: 0), V (1), or rows of V that are to be transposed (2): its stages are full, or those who read
  /// them are done.
  template <index_t Which>
  TILEWRIGHT_HD exec::mbarrier full(index_t stage) const {
    return barrier((2 * lds.q_stages() * tile.consumers()) + 2 * Which * tile.stages + stage);
  }
  template <index_t Which>
  TILEWRIGHT_HD exec::mbarrier empty(index_t stage) const {
    return full<Which>(tile.stages + stage);
  }
  template <index_t Which>
  TILEWRIGHT_HD static constexpr index_t offset(index_t stage) {
    if (Which == 0) return lds.k_offset() + stage * lds.k().bytes();
    if (Which == 1) return lds.v_offset() + stage * lds.v().bytes();
    return lds.rows_of_v_offset() + stage * lds.rows_of_v().bytes();
  }
  template <index_t Which>
  TILEWRIGHT_HD unsigned place(index_t stage) const {
    return base + unsigned(offset<Which>(stage));
  }

  TILEWRIGHT_HD void init_barriers() const {
    for (index_t i = 0; i < lds.q_stages() * tile.consumers(); ++i) {
      q_full(0, i).init(1);
      q_empty(0, i).init(4);
    }
    for (index_t s = 0; s < tile.stages; ++s) {
      full<0>(s).init(1);
      full<1>(s).init(lds.transposes_v() ? transposing_waves : 1);
      empty<0>(s).init(tile.consumers());
      empty<1>(s).init(tile.consumers());
      if constexpr (lds.transposes_v()) {
        full<2>(s).init(1);
        empty<2>(s).init(transposing_waves);
      }
    }
  }

  /// One thread: waits until the stage is empty, then starts the copy of the keys from `key` on.
  template <index_t Which, class Args>
  TILEWRIGHT_HD void fill(cursor& at, const Args& device, const attention_problem& p, index_t key) const {
    constexpr wgmma_operand operand = Which == 0 ? lds.k() : Which == 1 ? lds.v() : lds.rows_of_v();
    const exec::mbarrier done = full<Which>(at.stage);
    empty<Which>(at.stage).wait(at.phase ^ 1);
    done.arrive_and_expect(operand.bytes());
    multi_index<5> from = key_position(device.args, p, key);
    if (Which > 0) from[0] = p.first_column;
    load_boxes<operand.num_boxes(), operand.box_bytes(), typename Policy::element_type>(
        place<Which>(at.stage), Which == 0 ? device.k : device.v, done, from);
    at.advance();
  }

  /// One thread: the same for the block's rows of Q, consumer by consumer.
  template <class Args>
  TILEWRIGHT_HD void fill_q(q_cursor& at, const Args& device, const attention_problem& p) const {
    constexpr wgmma_operand operand = lds.q();
    for (index_t c = 0; c < tile.consumers(); ++c) {
      const exec::mbarrier done = q_full(at.stage, c);
      q_empty(at.stage, c).wait(at.phase ^ 1);
      done.arrive_and_expect(operand.bytes() / tile.consumers());
      load_boxes<operand.num_boxes(), operand.box_bytes(), typename Policy::element_type>(
          q_address(at.stage, c), device.q, done, query_position(device.args, p, p.first_query + 64 * c));
    }
    at.advance();
  }
};

}  // namespace tilewright::detail
#endif
