// SPDX-License-Identifier: MIT
// Gradient of choose_experts: of the weights that experts get, with respect to the logits.
#pragma once

#include <tilewright/block/rows/row_cluster.hpp>
#include <tilewright/core/base/bits.hpp>
#include <tilewright/kernels/routing/choose_experts_args.hpp>
#include <tilewright/machine/exec/exec.hpp>
#include <tilewright/tile/registers/reduce_threads.hpp>

namespace tilewright {

/// What choose_experts took and wrote, and the gradient of the weights. The choice itself has no gradient.
template <class T>
struct choose_experts_gradient_args {
  choose_experts_args<T> forward = {};  ///< with expert and weight as it wrote them
  const float* dweight = nullptr;       ///< (tokens, choices + shared); that of shared experts is not read
  T* dx = nullptr;                      ///< (tokens, experts): gradient of the logits
  long_index_t dx_stride = 0;           ///< in elements
};

/// A wave takes a token. Weights that are divided by their sum depend on the chosen logits alone; those of a softmax
/// that are not depend on all.
template <class Arch, class T>
struct choose_experts_gradient {
  using arch = Arch;
  using args_type = choose_experts_gradient_args<T>;
  static constexpr index_t wave = Arch::value.wave_size, block_size = 256, block_tokens = block_size / wave,
                           lds_bytes = 0;
  static constexpr bool overlaps_previous = detail::overlaps_previous_v<Arch>;

  /// `tokens`: of a block.
  static const char* check(const args_type& args, index_t tokens = block_tokens) {
    const auto& f = args.forward;
    if (const char* why = detail::check_choose_experts(f, f.experts, max(f.choices + f.shared, f.groups), 1, tokens))
      return why;
    if (!args.dweight) return "a pointer is null: dweight";
    const detail::row_matrix dx{args.dx, f.tokens, f.experts, args.dx_stride, sizeof(T)};
    if (const char* why = detail::check_matrix(dx, 1, tokens)) return why;
    const long_index_t n = long_index_t{f.tokens} * (f.choices + f.shared);
    const detail::row_matrix matrices[] = {dx, {f.x, f.tokens, f.experts, f.x_stride, sizeof(T)},
                                           detail::row_array(f.expert, n), detail::row_array(f.weight, n),
                                           detail::row_array(args.dweight, n)};
    return detail::check_results(matrices, 1);
  }
  static constexpr exec::block_index grid(const args_type& args, index_t tokens = block_tokens) {
    return {ceil_div(args.forward.tokens, tokens), 1, 1};
  }

  TILEWRIGHT_HD void operator()(const args_type& args) const {
    detail::overlap_kernels();
    const index_t token = exec::block_id().x * block_tokens + exec::wave_id();
    if (token >= args.forward.tokens) return;
    const token_gradient own(args, token);
    for (index_t e = exec::lane_id(); e < args.forward.experts; e += wave)
      exec::store_element(args.dx + token * args.dx_stride + e, type_convert<T>(own.of_logit(e)));
  }

 private:
  TILEWRIGHT_HD static float sum_of_lanes(float x) {
    return detail::combine_lanes<1, wave>(x, [](float a, float b) { return a + b; });
  }

  struct token_gradient {
    const choose_experts_args<T>& forward;
    const T* logits;
    const index_t* expert;
    const float *weight, *dweight;
    bool is_sigmoid, depends_on_all;
    float sum = 0;                    // of weight times dweight
    float largest = 0, reciprocal = 0;  // of all logits; of the sum of exponentials, where all of them matter

    TILEWRIGHT_HD token_gradient(const args_type& args, index_t token)
        : forward(args.forward),
          logits(forward.x + token * forward.x_stride),
          expert(forward.expert + long_index_t{token} * (forward.choices + forward.shared)),
          weight(forward.weight + long_index_t{token} * (forward.choices + forward.shared)),
          dweight(args.dweight + long_index_t{token} * (forward.choices + forward.shared)),
          is_sigmoid(forward.score == expert_score::sigmoid),
          depends_on_all(!forward.is_normalised && !is_sigmoid) {
      for (index_t c = exec::lane_id(); c < forward.choices; c += wave)
        if (exec::load_element(expert + c) >= 0)
          sum += exec::load_element(weight + c) * exec::load_element(dweight + c);
      sum = sum_of_lanes(sum);
      if (depends_on_all) find_exponentials();
    }
    TILEWRIGHT_HD float logit(index_t e) const { return type_convert<float>(exec::load_element(logits + e)); }
    TILEWRIGHT_HD static float exponential(float x) { return exec::exp2(x * detail::log2_e); }
    TILEWRIGHT_HD void find_exponentials() {
      largest = detail::minus_infinity();
      for (index_t e = exec::lane_id(); e < forward.experts; e += wave) largest = exec::max(largest, logit(e));
      largest = detail::combine_lanes<1, wave>(largest, [](float a, float b) { return exec::max(a, b); });
      float total = 0;
      for (index_t e = exec::lane_id(); e < forward.experts; e += wave)
        total += logit(e) == logit(e) ? exponential(logit(e) - largest) : 0.0f;
      reciprocal = exec::rcp(sum_of_lanes(total));
    }
    /// 0 for a logit that is NaN.
    TILEWRIGHT_HD float of_logit(index_t e) const {
      const float x = logit(e), mean = forward.is_normalised && sum != 0 ? sum / forward.scale : 0.0f;
      float result = 0;
      for (index_t c = 0; c < forward.choices; ++c)
        if (exec::load_element(expert + c) == e)
          result = exec::load_element(weight + c) * (exec::load_element(dweight + c) - mean);
      if (is_sigmoid) result *= exec::sigmoid(-x);
      if (depends_on_all && x == x) result -= sum * exponential(x - largest) * reciprocal;
      return x == x ? result : 0.0f;
    }
  };
};

}  // namespace tilewright
