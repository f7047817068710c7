// SPDX-License-Identifier: MIT
// The stages in LDS that attention's producer fills with bulk copies: places, barriers, coordinates.
#pragma once

#include <tilewright/attention/attention_boxes.hpp>
#include <tilewright/attention/specialized_attention_policy.hpp>
#include <tilewright/gemm/stage_ring.hpp>

#if TILEWRIGHT_HOPPER_PASS
namespace tilewright::detail {

/// What consumers wait for and tell, in one block. Policy is a specialized_attention_policy.
template <class Policy>
struct attention_stages {
  static constexpr specialized_attention_lds lds = Policy::lds;
  static constexpr specialized_attention_tile tile = Policy::tile;
  using cursor = stage_cursor<tile.stages>;
  using q_cursor = stage_cursor<lds.q_stages()>;
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
  TILEWRIGHT_HD unsigned q_place(index_t stage, index_t consumer) const {
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
    empty<Which>(at.stage).wait(at.parity ^ 1);
    done.arrive_and_expect(operand.bytes());
    load_boxes<operand.num_boxes(), operand.box_bytes(), typename Policy::element_type>(
        place<Which>(at.stage), Which == 0 ? device.k : device.v, done, key_position(device.args, p, key));
    at.advance();
  }

  /// One thread: the same for the block's rows of Q, consumer by consumer.
  template <class Args>
  TILEWRIGHT_HD void fill_q(q_cursor& at, const Args& device, const attention_problem& p) const {
    constexpr wgmma_operand operand = lds.q();
    for (index_t c = 0; c < tile.consumers(); ++c) {
      const exec::mbarrier done = q_full(at.stage, c);
      q_empty(at.stage, c).wait(at.parity ^ 1);
      done.arrive_and_expect(operand.bytes() / tile.consumers());
      load_boxes<operand.num_boxes(), operand.box_bytes(), typename Policy::element_type>(
          q_place(at.stage, c), device.q, done, query_position(device.args, p, p.first_query + 64 * c));
    }
    at.advance();
  }
};

}  // namespace tilewright::detail
#endif
