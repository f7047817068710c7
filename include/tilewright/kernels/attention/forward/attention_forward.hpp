// SPDX-License-Identifier: MIT
// Attention forward for matrix instructions with operands in registers: MFMA, WMMA, mma.sync.
#pragma once

#include <tilewright/kernels/attention/attention_args.hpp>
#include <tilewright/kernels/attention/detail/attention_rows.hpp>
#include <tilewright/kernels/attention/detail/attention_softmax.hpp>
#include <tilewright/kernels/attention/detail/attention_steps.hpp>
#include <tilewright/kernels/attention/detail/row_stream.hpp>

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

namespace tilewright {

/// Each block computes Policy::tile.queries rows of O of one head. Q stays in registers; K and V pass through LDS, some
/// rows at a time, the next ones in flight while these are multiplied. Two barriers for each step.
template <class Policy>
struct attention_forward {
  using arch = typename Policy::arch;
  using args_type = typename Policy::args_type;
  using keys_stream = detail::keys_stream<Policy>;
  using values_stream = detail::values_stream<Policy>;
  using exchange_type = detail::probability_exchange<Policy>;
  static constexpr attention_tile tile = Policy::tile;  ///< how a block works
  static constexpr index_t block_size = detail::attention_product<Policy, operand_major::k, 0>::tile.block_size();
  /// Byte offsets in LDS: V's stages, and what waves exchange.
  static constexpr index_t values_begin = tile.stages() * keys_stream::bytes,
                           exchange_begin = values_begin + tile.stages() * values_stream::bytes;
  static constexpr index_t lds_bytes = exchange_begin + exchange_type::lds_bytes + detail::queries_lds_bytes<Policy>;
  static_assert(lds_bytes <= arch::value.lds_bytes,
                "attention: K and V of a step need more LDS than this target has; use fewer keys for each step");

  static constexpr const char* check(const args_type& args) {
    if (args.heads > 65535 / Policy::value_parts) return "there are more than 32767 heads of more than 256 columns";
    return detail::check_attention(args, Policy::head_dim, Policy::value_dim, Policy::vector, Policy::vector,
                                   Policy::has_block_mask);
  }

  /// Blocks: x for rows of Q, y for heads, or parts of them, z for sequences.
  static constexpr grid_size grid(const args_type& args) {
    return {ceil_div(args.queries, tile.queries), args.heads * Policy::value_parts, args.batch};
  }

  TILEWRIGHT_HD void operator()(const args_type& args) const {
    const exec::block_index block = exec::block_id();
    constexpr index_t rows = tile.queries;
    // Under a causal mask the last rows see most keys, so they start first.
    const index_t x = args.window.right < 0 ? block.x : ceil_div(args.queries, rows) - 1 - block.x;
    const detail::attention_problem p = detail::locate_part<Policy>(args, x * rows, block.y, block.z);
    if (p.first_query < p.queries) run(args, p);
  }

 private:
  TILEWRIGHT_HD void run(const args_type& args, const detail::attention_problem& p) const {
    constexpr index_t rows = tile.queries, step = tile.keys;
    const exec::lds_pointer lds = exec::lds_allocate<lds_bytes>();
    using T = typename Policy::element_type;
    const detail::index_range all = p.seen_by_any(args.window, rows), unmasked = p.seen_by_all(args.window, rows);
    const detail::attention_steps<Policy> steps{args, p, rows, {all.first & -step, all.last}};
    const index_t first = steps.first();
    keys_stream k(detail::key_rows<const T>(args.k, args.k_strides, p), first, lds);
    values_stream v(detail::columns_from(detail::key_rows<const T>(args.v, args.v_strides, p), p.first_column), first,
                    lds + values_begin);
    const exchange_type exchange{lds + exchange_begin};
    const auto q = detail::load_rows<Policy>(detail::query_rows<const T>(args.q, args.q_strides, p), p.first_query,
                                             lds + (lds_bytes - detail::queries_lds_bytes<Policy>),
                                             detail::attention_chunks<Policy, operand_major::k>{});
    detail::attention_softmax<Policy> softmax;
    const auto to_probabilities = [&](auto& s, index_t key) TILEWRIGHT_INLINE_LAMBDA {
      bool is_masked = key < unmasked.first || key + step > unmasked.last;
      if constexpr (Policy::has_block_mask) is_masked = is_masked || !steps.sees_all(p.first_query, rows, key);
      softmax.update(s, args, p, key, is_masked,
                     [&](const auto& factors) TILEWRIGHT_INLINE_LAMBDA { softmax.scale_outputs(factors); });
      return exchange(s);
    };
    if constexpr (tile.form == attention_tile::ping_pong) {
      static_assert(!Policy::has_block_mask, "attention: tiles with ping_pong take no block mask");
      detail::attention_ping_pong<Policy>(k, v, ceil_div(all.last - first, step))
          .run(q, softmax.o,
               [&](auto& s, index_t i) TILEWRIGHT_INLINE_LAMBDA { return to_probabilities(s, first + i * step); });
    } else {
      if (first < all.last) k.begin();
      TILEWRIGHT_UNROLL(1)
      for (index_t key = first, next; key < all.last; key = next) {
        next = steps.after(key);
        k.finish();
        if constexpr (Policy::has_block_mask) k.skip(next - key - step);
        exec::block_sync();
        v.begin();
        typename detail::attention_registers<Policy>::scores s{};
        k.multiply_rows(s, q);
        const auto probabilities = to_probabilities(s, key);
        v.finish();
        exec::block_sync();
        if (next < all.last) [[likely]]
          k.begin();
        v.multiply_columns(softmax.o, probabilities);
        if constexpr (Policy::has_block_mask) v.skip(next - key - step);
      }
    }
    const auto results = softmax.finish_rows(detail::sink_of_head(args, p.head));
    softmax.scale_outputs(results.factor);
    const auto o = detail::query_rows<typename Policy::result_type>(args.o, args.o_strides, p);
    detail::store_rows<Policy>(detail::columns_from(o, p.first_column), p.first_query, softmax.o,
                               sizeof(T) == 1 ? p.value_scale : 1,
                               detail::attention_chunks<Policy, operand_major::mn>{});
    if (args.lse != nullptr && p.first_column == 0) softmax.store_log_sum_exp(results.log_sum_exp, args, p);
  }
};

}  // namespace tilewright
