// SPDX-License-Identifier: MIT
// Routing of tokens to experts by scores with biases, in the best groups of experts.
#pragma once

#include <tilewright/block/rows/row_cluster.hpp>
#include <tilewright/core/base/array.hpp>
#include <tilewright/core/base/bits.hpp>
#include <tilewright/kernels/routing/choose_experts_args.hpp>
#include <tilewright/machine/exec/exec.hpp>
#include <tilewright/tile/registers/reduce_threads.hpp>

namespace tilewright {

namespace detail {

/// What a kernel of choose_experts_by_score has room for, and what its waves have in LDS.
struct experts_by_score_shape {
  index_t most_experts, most_choices;

  /// A group's scores are as far apart as its lanes, so that the lanes of a wave read different banks.
  TILEWRIGHT_HD constexpr index_t score_bytes(const arch::target& on) const {
    return (round_up(most_experts, on.wave_size) + max(on.wave_size, most_choices)) * 4;
  }
  TILEWRIGHT_HD constexpr index_t token_bytes(const arch::target& on) const {
    return score_bytes(on) + most_choices * 8;
  }
  /// Tokens of a block: one for each wave, four if LDS has room for four blocks of them.
  TILEWRIGHT_HD constexpr index_t block_tokens(const arch::target& on) const {
    return min(4, 1 << log2_floor(max(on.lds_bytes / 4 / token_bytes(on), 1)));
  }
};

}  // namespace detail

/// As choose_experts, for every choose_experts_args: scores are compared, those of the best groups. A wave chooses for
/// a token; its lanes hold the scores. Room for MostExperts and MostChoices, up to 2048 each.
template <class Arch, class T, index_t MostExperts, index_t MostChoices = 16>
struct choose_experts_by_score {
  static_assert(MostExperts >= 1 && MostExperts <= 2048 && MostChoices >= 1 && MostChoices <= 2048,
                "choose_experts_by_score: MostExperts and MostChoices are 1 to 2048");
  using arch = Arch;
  using args_type = choose_experts_args<T>;

 private:
  static constexpr detail::experts_by_score_shape shape{MostExperts, MostChoices};
  static constexpr index_t wave = Arch::value.wave_size, owned = ceil_div(MostExperts, wave),
                           chosen = shape.score_bytes(Arch::value), weights = chosen + MostChoices * 4,
                           token_bytes = shape.token_bytes(Arch::value);

 public:
  static constexpr index_t block_tokens = shape.block_tokens(Arch::value);  ///< tokens, and waves, of a block
  static constexpr index_t block_size = block_tokens * wave, lds_bytes = block_tokens * token_bytes,
                           blocks_at_once = min(min(24, 1024 / block_size), Arch::value.lds_bytes / lds_bytes);
  static constexpr bool overlaps_previous = detail::overlaps_previous_v<Arch>;

  /// What this kernel, or the same of another shape, cannot do with these arguments, as an error message; nullptr:
  /// it can.
  static constexpr const char* check(const args_type& args, const detail::experts_by_score_shape& of = shape) {
    return detail::check_choose_experts(args, of.most_experts, of.most_choices, 1, 1);
  }
  static constexpr exec::block_index grid(const args_type& args, index_t tokens = block_tokens) {
    return {ceil_div(args.tokens, tokens), 1, 1};
  }

  TILEWRIGHT_HD void operator()(const args_type& args) const {
    detail::overlap_kernels();
    const index_t token = exec::block_id().x * block_tokens + exec::wave_id();
    if (token >= args.tokens) return;
    const auto lds = exec::lds_allocate<lds_bytes>() + exec::wave_id() * token_bytes;
    const token_logits logits(args, token);
    auto scores = logits.scores();
    if (args.kept_groups < args.groups) remove_groups(args, lds, scores);
    choose(args, lds, scores);
    write(args, lds, logits, token);
  }

 private:
  using lane_values = array<float, owned>;  // value i of a lane belongs to the expert column(i)
  static constexpr float nan = bit_cast<float>(0x7fc00000u);

  TILEWRIGHT_HD static index_t column(index_t i) { return i * wave + exec::lane_id(); }
  /// Of all lanes; NaN only if all are.
  TILEWRIGHT_HD static float largest_of(const lane_values& values) {
    float result = nan;
    for (const float x : values.elements) result = exec::max(result, x);
    return detail::combine_lanes<1, wave>(result, [](float a, float b) { return exec::max(a, b); });
  }
  TILEWRIGHT_HD static float sum_of_lanes(float x) {
    return detail::combine_lanes<1, wave>(x, [](float a, float b) { return a + b; });
  }

  /// The logits of a token, and what they are compared by.
  struct token_logits {
    const args_type& args;
    decltype(exec::make_global_buffer(static_cast<const T*>(nullptr), 0)) row;
    lane_values logits;
    float log_sum = 0;  // of the softmax: of exponentials of all logits

    TILEWRIGHT_HD token_logits(const args_type& a, index_t token)
        : args(a), row(exec::make_global_buffer(a.x + token * a.x_stride, a.experts * index_t{sizeof(T)})) {
      TILEWRIGHT_UNROLL_ALL
      for (index_t i = 0; i < owned; ++i) {
        const bool exists = column(i) < args.experts;
        const T logit = exec::masked_load<T>(row, column(i) * index_t{sizeof(T)}, exists);
        logits[i] = exists ? type_convert<float>(logit) : nan;
      }
      if (args.score == expert_score::sigmoid) return;
      const float largest = largest_of(logits);
      float sum = 0;
      for (const float x : logits.elements) sum += x == x ? exponent(x - largest) : 0.0f;
      log_sum = largest + exec::log2(sum_of_lanes(sum)) * 0.693147181f;
    }
    /// What the weight of a logit is made of.
    TILEWRIGHT_HD float share(float logit) const {
      if (args.score == expert_score::sigmoid) return exec::sigmoid(logit);
      return exponent(logit - log_sum);
    }
    TILEWRIGHT_HD float share_of(index_t expert) const {
      return share(type_convert<float>(exec::buffer_load<T>(row, expert * index_t{sizeof(T)})));
    }
    /// NaN where a logit is, and where there is no expert.
    TILEWRIGHT_HD lane_values scores() const {
      lane_values result;
      TILEWRIGHT_UNROLL_ALL
      for (index_t i = 0; i < owned; ++i) {
        const float bias = args.bias && column(i) < args.experts ? exec::load_element(args.bias + column(i)) : 0.0f;
        result[i] = logits[i] == logits[i] ? share(logits[i]) + bias : nan;
      }
      return result;
    }
    TILEWRIGHT_HD static float exponent(float x) { return exec::exp2(x * detail::log2_e); }
  };

  /// Makes the scores of all groups but the best ones NaN.
  TILEWRIGHT_HD static void remove_groups(const args_type& args, exec::lds_pointer lds, lane_values& scores) {
    const index_t length = divide(args.experts, args.groups),
                  lanes = 1 << detail::log2_floor(max(divide(wave, args.groups), 1));  // of a group
    for (index_t i = 0; i < owned; ++i)
      if (column(i) < args.experts)
        exec::lds_store(lds, (column(i) + divide(column(i), length) * lanes) * 4, scores[i]);
    exec::wave_sync();
    const index_t totals = chosen, kept = weights;
    for (index_t first = 0; first < args.groups; first += divide(wave, lanes)) {
      const index_t group = first + divide(exec::lane_id(), lanes), lane = modulo(exec::lane_id(), lanes);
      const float total =
          group_score(lds + group * (length + lanes) * 4, lane, lanes, group < args.groups ? length : 0);
      if (lane == 0 && group < args.groups) exec::lds_store(lds, totals + group * 4, total);
    }
    exec::wave_sync();
    for (index_t g = exec::lane_id(); g < args.groups; g += wave) {
      const auto own = exec::lds_load<float>(lds, totals + g * 4);
      index_t before = 0;  // groups that are better, or as good and earlier
      for (index_t o = 0; o < args.groups; ++o) {
        const auto other = exec::lds_load<float>(lds, totals + o * 4);
        before += other > own || (other == own && o < g);
      }
      exec::lds_store(lds, kept + g * 4, index_t{before < args.kept_groups});
    }
    exec::wave_sync();
    for (index_t i = 0; i < owned; ++i)
      if (column(i) < args.experts && !exec::lds_load<index_t>(lds, kept + divide(column(i), length) * 4))
        scores[i] = nan;
    exec::wave_sync();  // before the choices are written there
  }
  /// The sum of the two largest of `length` scores, which `lanes` neighbouring lanes share; the score where it is one.
  TILEWRIGHT_HD static float group_score(exec::lds_pointer scores, index_t lane, index_t lanes, index_t length) {
    float first = detail::minus_infinity(), second = first;
    for (index_t i = lane; i < length; i += lanes) {
      const auto x = exec::lds_load<float>(scores, i * 4);
      second = x > first ? first : x > second ? x : second;
      first = x > first ? x : first;
    }
    for (index_t step = 1; step < lanes; step *= 2) {
      const float other = exec::shuffle(first, exec::lane_id() ^ step);
      second = exec::max(exec::min(first, other), exec::max(second, exec::shuffle(second, exec::lane_id() ^ step)));
      first = exec::max(first, other);
    }
    return length > 1 ? first + second : first;
  }

  /// Writes the choices to LDS: each is the first of the largest scores, which becomes NaN; -1 where all are.
  TILEWRIGHT_HD static void choose(const args_type& args, exec::lds_pointer lds, lane_values& scores) {
    constexpr index_t none = 0x7fffffff;
    TILEWRIGHT_UNROLL(1)
    for (index_t choice = 0; choice < args.choices; ++choice) {
      const float best = largest_of(scores);
      index_t own = none;
      TILEWRIGHT_UNROLL_ALL
      for (index_t i = owned - 1; i >= 0; --i) own = scores[i] == best ? column(i) : own;
      const index_t expert = detail::combine_lanes<1, wave>(own, [](index_t a, index_t b) { return min(a, b); });
      TILEWRIGHT_UNROLL_ALL
      for (index_t i = 0; i < owned; ++i) scores[i] = column(i) == expert ? nan : scores[i];
      if (exec::lane_id() == 0) exec::lds_store(lds, chosen + choice * 4, expert == none ? -1 : expert);
    }
    exec::wave_sync();
  }
  /// Writes the choices with their weights, and the shared experts after them.
  TILEWRIGHT_HD static void write(const args_type& args, exec::lds_pointer lds, const token_logits& logits,
                                  index_t token) {
    float sum = 0;
    for (index_t i = exec::lane_id(); i < args.choices; i += wave) {
      const auto expert = exec::lds_load<index_t>(lds, chosen + i * 4);
      const float weight = expert < 0 ? 0.0f : logits.share_of(expert);
      exec::lds_store(lds, weights + i * 4, weight);
      sum += weight;
    }
    const float factor = args.scale * (args.is_normalised ? exec::rcp(sum_of_lanes(sum)) : 1.0f);
    const index_t entries = args.choices + args.shared;
    const long_index_t to = long_index_t{token} * entries;
    for (index_t i = exec::lane_id(); i < entries; i += wave) {
      const bool is_chosen = i < args.choices;
      const float weight = is_chosen ? exec::lds_load<float>(lds, weights + i * 4) : 0.0f;
      const index_t expert = is_chosen ? exec::lds_load<index_t>(lds, chosen + i * 4) : args.experts + i - args.choices;
      exec::store_element(args.expert + (to + i), expert);
      exec::store_element(args.weight + (to + i), !is_chosen ? 1.0f : weight == 0 ? 0.0f : weight * factor);
    }
  }
};

}  // namespace tilewright
