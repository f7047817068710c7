// SPDX-License-Identifier: MIT
// Online softmax of a block's rows: mask, running maximum and sum, rescaled output.
#pragma once

#include <tilewright/attention/attention_policy.hpp>
#include <tilewright/attention/attention_problem.hpp>
#include <tilewright/tile/reduce_tile.hpp>
#include <tilewright/tile/relayout.hpp>

namespace tilewright {

/// Scores of a step in registers: float, rows of Q x keys.
template <class Policy>
using attention_scores = static_distributed_tensor<float, typename attention_product<Policy, operand_major::k, 0>::c>;

namespace detail {

template <class Policy, class Parts>
struct attention_outputs;
template <class Policy, index_t... Parts>
struct attention_outputs<Policy, sequence<Parts...>> {
  using type =
      tuple<static_distributed_tensor<float, typename attention_product<Policy, operand_major::mn, Parts>::c>...>;
};

/// f(register d, row and column of its element less `own`, register of its row), for each element that a thread holds.
template <class Distribution, class Rows, class F>
TILEWRIGHT_HD void for_each_score(F f) {
  unroll<Distribution::num_elements>([&](auto d) TILEWRIGHT_INLINE_LAMBDA {
    f(d, constant(position_of_register<Distribution, d.value>[1]),
      constant(register_along<Distribution, Rows, 0>(d.value)));
  });
}

}  // namespace detail

/// What a block keeps from step to step, each thread for its rows: maximum and sum of exponentials, and O before the
/// division by the sum.
template <class Policy>
class attention_sums {
  using scores = attention_scores<Policy>;
  using distribution = typename scores::distribution_type;
  using args_type = typename Policy::args_type;
  using row_values = decltype(row_reduce(scores{}, max));
  using rows = typename row_values::distribution_type;
  static constexpr float log2_e = 1.442695041f, ln_2 = 0.6931471806f;

  row_values max_, sum_;

  TILEWRIGHT_HD static constexpr float minus_infinity() { return bit_cast<float>(0xff800000u); }

  /// f of the position in the tile of each of a thread's rows, as a tile.
  template <class F>
  TILEWRIGHT_HD static auto of_rows(F f) {
    static_distributed_tensor<index_t, rows> result;
    const index_t own = rows::calculate_index(get_partition_index<rows>())[0];
    unroll<rows::num_elements>([&](auto r) TILEWRIGHT_INLINE_LAMBDA {
      result.thread_buffer[r] = f(own + constant(detail::position_of_register<rows, r.value>[0]));
    });
    return result;
  }

  /// Scores of keys that the row does not see become -infinity; the tile's first key is `key`.
  TILEWRIGHT_HD static void mask(scores& s, const args_type& args, const attention_problem& p, index_t key) {
    const index_t before = key + distribution::calculate_index(get_partition_index<distribution>())[1];
    const auto last = of_rows(
        [&](index_t row) TILEWRIGHT_INLINE_LAMBDA { return p.last_key(args.window, p.first_query + row) - before; });
    detail::for_each_score<distribution, rows>([&](auto d, index_t column, index_t row) TILEWRIGHT_INLINE_LAMBDA {
      if (column >= last.thread_buffer[row]) s.thread_buffer[d] = minus_infinity();
    });
    if (args.window.left < 0) return;
    const auto first = of_rows(
        [&](index_t row) TILEWRIGHT_INLINE_LAMBDA { return p.first_key(args.window, p.first_query + row) - before; });
    detail::for_each_score<distribution, rows>([&](auto d, index_t column, index_t row) TILEWRIGHT_INLINE_LAMBDA {
      if (column < first.thread_buffer[row]) s.thread_buffer[d] = minus_infinity();
    });
  }

  /// The user's function of the scaled scores.
  TILEWRIGHT_HD static void apply_score_function(scores& s, const args_type& args, const attention_problem& p,
                                                 index_t key) {
    const auto own = distribution::calculate_index(get_partition_index<distribution>());
    const typename Policy::score_function f{};
    unroll<distribution::num_elements>([&](auto d) TILEWRIGHT_INLINE_LAMBDA {
      constexpr auto at = detail::position_of_register<distribution, d.value>;
      const score_position position{p.batch, p.head, p.first_query + own[0] + constant(at[0]),
                                    key + own[1] + constant(at[1])};
      s.thread_buffer[d] = f(s.thread_buffer[d] * args.scale, position, args);
    });
  }

  static constexpr bool has_score_function = !__is_same(typename Policy::score_function, no_score_function);

  /// What a score is multiplied by to become an exponent of 2.
  TILEWRIGHT_HD static float scale_of(const args_type& args) {
    return has_score_function ? log2_e : args.scale * log2_e;
  }

 public:
  using outputs = typename detail::attention_outputs<Policy, attention_parts<Policy, operand_major::mn>>::type;
  outputs o{};

  TILEWRIGHT_HD attention_sums() {
    set_tile(max_, minus_infinity());
    set_tile(sum_, 0.0f);
  }

  /// Turns the scores of the keys from `key` on into exponentials of their distance to the largest score so far, adds
  /// them up, and brings what was there before to the same scale.
  TILEWRIGHT_HD void add_step(scores& s, const args_type& args, const attention_problem& p, index_t key,
                              bool is_masked) {
    if constexpr (has_score_function) apply_score_function(s, args, p, key);
    if (is_masked) mask(s, args, p, key);
    const float scale = scale_of(args);
    const row_values now = row_reduce(s, max, max_);
    // A row that has seen no key yet keeps 0: its scores are -infinity, and less -infinity they would be NaN.
    const auto offset = tile_elementwise_in(
        [&](float x) TILEWRIGHT_INLINE_LAMBDA { return x == minus_infinity() ? 0.0f : x * scale; }, now);
    const auto factor = tile_elementwise_in(
        [&](float before, float to) TILEWRIGHT_INLINE_LAMBDA { return exec::exp2(before * scale - to); }, max_, offset);
    tile_elementwise_inout([&](float& x, float to) TILEWRIGHT_INLINE_LAMBDA { x = exec::exp2(x * scale - to); }, s,
                           along<0>(offset));
    // Each thread adds up its own keys; the lanes of a row meet in finish().
    tile_elementwise_inout([](float& x, float f) TILEWRIGHT_INLINE_LAMBDA { x *= f; }, sum_, factor);
    detail::for_each_score<distribution, rows>(
        [&](auto d, index_t, index_t row) TILEWRIGHT_INLINE_LAMBDA { sum_.thread_buffer[row] += s.thread_buffer[d]; });
    max_ = now;
    for_each_output([&](auto& part) TILEWRIGHT_INLINE_LAMBDA {
      tile_elementwise_inout([](float& x, float f) TILEWRIGHT_INLINE_LAMBDA { x *= f; }, part, along<0>(factor));
    });
  }

  /// Divides O by the sums; zeros where no key was seen.
  TILEWRIGHT_HD void finish() {
    detail::reduce_lanes<distribution::encoding.r.size()>(sum_, plus);
    const auto inverse =
        tile_elementwise_in([](float x) TILEWRIGHT_INLINE_LAMBDA { return x == 0.0f ? 0.0f : 1.0f / x; }, sum_);
    for_each_output([&](auto& part) TILEWRIGHT_INLINE_LAMBDA {
      tile_elementwise_inout([](float& x, float f) TILEWRIGHT_INLINE_LAMBDA { x *= f; }, part, along<0>(inverse));
    });
  }

  /// Natural logarithm of each row's sum of exponentials; -infinity where no key was seen. After finish().
  TILEWRIGHT_HD auto log_sum_exp(const args_type& args) const {
    return tile_elementwise_in(
        [&](float m, float l) TILEWRIGHT_INLINE_LAMBDA {
          return l == 0.0f ? minus_infinity() : (m * scale_of(args) + exec::log2(l)) * ln_2;
        },
        max_, sum_);
  }

  template <class F>
  TILEWRIGHT_HD void for_each_output(F f) {
    [&]<index_t... Parts>(sequence<Parts...>)
        TILEWRIGHT_INLINE_LAMBDA { (f(o.template get<Parts>()), ...); }(attention_parts<Policy, operand_major::mn>{});
  }
};

}  // namespace tilewright
