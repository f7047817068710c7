// SPDX-License-Identifier: MIT
// The loop over the keys by two groups of waves in ping-pong: one multiplies while the other computes exponentials.
#pragma once

#include <tilewright/attention/attention_softmax.hpp>
#include <tilewright/attention/row_stream.hpp>

namespace tilewright::detail {

/// Eight waves, two on each SIMD; waves 4-7 run half a step after waves 0-3. In the first half of step j a wave only
/// multiplies, O += P V of step j - 1 and S = Q K^T, at raised priority; in the second half it moves K and V and turns
/// S into P. Each half ends with a barrier. K of a step and V of the one before share the number of a stage in LDS.
template <class Policy>
class attention_ping_pong {
  using keys = keys_stream<Policy>;
  using values = values_stream<Policy>;
  static constexpr attention_tile tile = Policy::tile;
  static_assert(probabilities_stay_in_lanes<Policy>);

  keys& k_;
  values& v_;
  index_t steps_;
  index_t tile_ = 1, stage_ = 1;  // in flight: K of step tile_ and V of the one before, and where they go

  TILEWRIGHT_HD void begin() {
    if (tile_ > steps_) [[unlikely]]
      return;
    k_.begin(stage_ * keys::bytes);
    v_.begin(stage_ * values::bytes);
  }
  TILEWRIGHT_HD void finish() {
    if (tile_ > steps_) [[unlikely]]
      return;
    k_.finish(stage_ * keys::bytes);
    v_.finish(stage_ * values::bytes);
  }
  TILEWRIGHT_HD static index_t next(index_t stage) { return stage == tile.stages() - 1 ? 0 : stage + 1; }
  TILEWRIGHT_HD void advance() {
    finish();
    ++tile_;
    stage_ = next(stage_);
    begin();
  }
  TILEWRIGHT_HD static void end_half() {
    exec::wait_for_lds<0>();
    exec::schedule_fence();
    exec::block_barrier();
    exec::schedule_fence();
  }

 public:
  /// The streams are at the first step's keys.
  TILEWRIGHT_HD attention_ping_pong(keys& k, values& v, index_t steps) : k_(k), v_(v), steps_(steps) {}

  /// softmax(s, step) turns the scores of a step into P.
  template <class Queries, class Outputs, class Softmax>
  TILEWRIGHT_HD void run(const Queries& q, Outputs& o, const Softmax& softmax) {
    typename attention_registers<Policy>::scores s{};
    decltype(softmax(s, 0)) p;
    const bool is_second_group = exec::wave_id() >= tile.waves / 2;
    if (steps_ > 0) {
      k_.begin();
      k_.finish();
    }
    begin();
    end_half();
    if (is_second_group) {
      advance();
      end_half();
    }
    index_t stage = 0;
    TILEWRIGHT_UNROLL(1)
    for (index_t step = 0; step < steps_; ++step) {
      exec::set_priority<1>();
      if (step > 0) [[likely]]
        v_.multiply_columns(o, p, stage * values::bytes);
      s = {};
      k_.multiply_rows(s, q, stage * keys::bytes);
      exec::set_priority<0>();
      end_half();
      advance();
      p = softmax(s, step);
      end_half();
      stage = next(stage);
    }
    if (steps_ > 0) v_.multiply_columns(o, p, stage * values::bytes);
    if (!is_second_group) end_half();
  }
};

}  // namespace tilewright::detail
