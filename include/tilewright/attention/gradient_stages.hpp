// SPDX-License-Identifier: MIT
// The stages in LDS of attention's gradients on Hopper: places, barriers, and what the producer copies there.
#pragma once

#include <tilewright/attention/attention_boxes.hpp>
#include <tilewright/attention/backward_scores.hpp>
#include <tilewright/attention/specialized_backward_policy.hpp>
#include <tilewright/gemm/stage_ring.hpp>

#if TILEWRIGHT_HOPPER_PASS
namespace tilewright::detail {

/// The steps of a unit: some rows of Q of each head that shares its keys. If blocks add to dQ in order, all begin with
/// the last rows, which most keys see.
template <index_t Queries, bool InOrder>
struct gradient_steps {
  index_t first, count;
  index_t done = 0;  // of this head

  TILEWRIGHT_HD explicit gradient_steps(index_range rows)
      : first(rows.first - modulo(rows.first, Queries)), count(ceil_div(max(rows.last - first, 0), Queries)) {}
  TILEWRIGHT_HD index_t query() const { return first + (InOrder ? count - 1 - done : done) * Queries; }
  /// True: the next step is another head's.
  TILEWRIGHT_HD bool advance() {
    if (++done < count) return false;
    done = 0;
    return true;
  }
};

/// K and V of a block, once for each of its units; a ring of Q, dO and the numbers of their rows.
template <class Policy>
struct gradient_stages {
  using T = typename Policy::element_type;
  static constexpr specialized_backward_lds lds = Policy::lds;
  static constexpr specialized_backward_tile tile = Policy::tile;
  using cursor = stage_cursor<tile.stages>;
  using unit_cursor = stage_cursor<1>;
  using steps_type = gradient_steps<tile.queries, tile.is_deterministic>;

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
      barrier(2 + i).init(2);
      d_s_full(i).init(8);
    }
    for (index_t s = 0; s < tile.stages; ++s) {
      full(s).init(33);  // one thread for the copies, a wave for the numbers
      empty(s).init(8);
    }
  }

  /// One thread: copies the unit's rows of K and V once the unit before no longer needs the places.
  template <class Args>
  TILEWRIGHT_HD void fill_keys(unit_cursor& at, const Args& device, const attention_problem& p, index_t key) const {
    const multi_index<5> place = key_position(device.args, p, key);
    k_empty().wait(at.parity ^ 1);
    k_full().arrive_and_expect(lds.k().bytes());
    load_boxes<lds.k().num_boxes(), lds.k().box_bytes(), T>(k(), device.k, k_full(), place);
    v_empty().wait(at.parity ^ 1);
    v_full().arrive_and_expect(lds.v().bytes());
    load_boxes<lds.v().num_boxes(), lds.v().box_bytes(), T>(v(), device.v, v_full(), place);
    at.advance();
  }
  /// One thread: rows of Q and dO of a step.
  template <class Args>
  TILEWRIGHT_HD void fill_queries(cursor& at, const Args& device, const attention_problem& p, index_t query) const {
    const multi_index<5> place = query_position(device.args, p, query);
    const exec::mbarrier done = full(at.stage);
    empty(at.stage).wait(at.parity ^ 1);
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
    empty(at.stage).wait(at.parity ^ 1);
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
