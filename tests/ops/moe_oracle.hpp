// SPDX-License-Identifier: MIT
// Runs moe on a random layer, and compares y with what it should be: in double, token by token.
#pragma once

#include <tilewright/ops.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "on_gpu.hpp"

namespace moe_test {

using namespace ops_test;
namespace tw = tilewright::ops;
using tilewright::expert_score;

struct moe_problem {
  int tokens, experts, choices, n, d;  // experts: with the shared ones
  int shared = 0;
  expert_score score = expert_score::softmax;
  int groups = 1, kept_groups = 1;
  bool is_normalised = true;
  float scale = 1;
  bool has_score_bias = false, has_bias = false, is_interleaved = false;
  float alpha = 1, limit = __builtin_inff(), shift = 0;
  int capacity = 0;
  int favourite = -1, nan_token = -1, nan_logits = -1;  // an expert that most tokens like; rows that are NaN
  unsigned seed = 1;
};

/// Weights of 8 bits.
struct fp8_weights {
  explicit fp8_weights(const moe_problem& p)
      : w1({p.experts, 2 * p.n, p.d}),
        w2({p.experts, p.d, p.n}),
        gate_up_scale({p.experts, 2 * p.n}),
        down_scale({p.experts, p.d}),
        gate_up(w1),
        down(w2) {
    gate_up.type = down.type = tw::element::fp8;
  }
  on_gpu<signed char> w1, w2;
  on_gpu<float> gate_up_scale, down_scale;
  tw::tensor gate_up, down;
};

/// Weights as they are stored, and their scales.
struct coded_weights {
  tw::tensor gate_up, down, gate_up_scale, down_scale;
  tw::tensor gate_up_zeros = {}, down_zeros = {}, gate_up_factor = {}, down_factor = {};
};

/// T: of x, weights and y. L: of the logits.
template <class T, class L>
struct moe_case {
  explicit moe_case(const moe_problem& given)
      : p(given),
        x({p.tokens, p.d}, p.seed),
        gate_up({p.experts, 2 * p.n, p.d}, p.seed + 1),
        down({p.experts, p.d, p.n}, p.seed + 2),
        gate_up_bias({p.experts, 2 * p.n}, p.seed + 3),
        down_bias({p.experts, p.d}, p.seed + 4),
        y({p.tokens, p.d}),
        logits({p.tokens, p.experts - p.shared}, p.seed + 5),
        score_bias({p.experts - p.shared}, p.seed + 6),
        weight({p.tokens, p.choices + p.shared}),
        expert({p.tokens, p.choices + p.shared}) {
    const int routed = p.experts - p.shared;
    for (int t = 0; t < p.tokens; ++t)
      for (int e = 0; e < routed; ++e) {
        L& l = logits.data[std::size_t(t * routed + e)];
        l = L(2 * float(l) + (e == p.favourite && t % 8 != 0 ? 9.0f : 0.0f));
        if (t == p.nan_logits && e != 1) l = L(std::numeric_limits<float>::quiet_NaN());
      }
    for (int i = 0; i < p.d && p.nan_token >= 0; ++i)
      x.data[std::size_t(p.nan_token * p.d + i)] = T(std::numeric_limits<float>::quiet_NaN());
    logits.upload(), x.upload();
  }

  tw::moe_options options() const {
    tw::moe_options o{.choices = p.choices, .is_normalised = p.is_normalised, .score = p.score};
    if (p.has_score_bias) o.score_bias = score_bias;
    o.groups = p.groups, o.kept_groups = p.kept_groups, o.scale = p.scale, o.shared = p.shared;
    if (keeps_routing) o.expert = expert, o.weight = weight;
    if (p.has_bias) o.gate_up_bias = gate_up_bias, o.down_bias = down_bias;
    o.is_interleaved = p.is_interleaved, o.capacity = p.capacity, o.first_expert = first_expert;
    o.swiglu_alpha = p.alpha, o.swiglu_limit = std::isinf(p.limit) ? 0 : p.limit, o.swiglu_shift = p.shift;
    if (codes) {
      o.gate_up_scale = codes->gate_up_scale, o.down_scale = codes->down_scale;
      o.gate_up_zeros = codes->gate_up_zeros, o.down_zeros = codes->down_zeros;
      o.gate_up_factor = codes->gate_up_factor, o.down_factor = codes->down_factor;
    }
    return o;
  }
  void call() {
    tw::moe_options o = options();
    if (has_workspace) {
      o.workspace_bytes = tw::moe_workspace_bytes(x, gate_up, down, o);
      if (!memory) memory.emplace(std::initializer_list<tilewright::long_index_t>{o.workspace_bytes});
      o.workspace = tw::tensor(*memory).data;
    }
    tw::tensor w1 = gate_up, w2 = down;
    if (codes) w1 = codes->gate_up, w2 = codes->down;
    if (fp8) w1 = fp8->gate_up, w2 = fp8->down, o.gate_up_scale = fp8->gate_up_scale, o.down_scale = fp8->down_scale;
    tw::moe(y, x, has_logits ? tw::tensor(logits) : tw::tensor{}, w1, w2, o);
  }
  /// From now on, weights are e4m3 with a scale for each row.
  void quantise() {
    fp8.emplace(p);
    const auto rows = [](tw::tensor tensor, bool is_scale) {
      const tilewright::long_index_t count = tensor.lengths[0] * tensor.lengths[1];
      return is_scale ? tw::packed(tensor.data, tensor.type, {count})
                      : tw::packed(tensor.data, tensor.type, {count, tensor.lengths[2]});
    };
    tw::quantise(rows(fp8->gate_up, false), rows(fp8->gate_up_scale, true), rows(gate_up, false));
    tw::quantise(rows(fp8->down, false), rows(fp8->down_scale, true), rows(down, false));
  }

  /// The bytes of y.
  std::string run() {
    std::fill(y.data.begin(), y.data.end(), T(-77.0f));
    y.upload();
    call();
    y.download();
    return bytes();
  }
  std::string bytes() const { return {reinterpret_cast<const char*>(y.data.data()), y.data.size() * sizeof(T)}; }

  static double at(const auto& v, std::size_t i) { return double(float(v.data[i])); }

  /// The weights of a token's experts, shared ones included: a search over all sets by their order.
  std::vector<double> weights_of(int t) const {
    const int routed = p.experts - p.shared, length = routed / p.groups;
    std::vector<double> share(std::size_t(routed), 0.0), rank(share.size(), -1e30);
    double sum = 0;
    for (int e = 0; e < routed; ++e) {
      const double l = at(logits, std::size_t(t * routed + e));
      if (!std::isnan(l)) sum += std::exp(l);
    }
    for (int e = 0; e < routed; ++e) {
      const double l = at(logits, std::size_t(t * routed + e));
      if (std::isnan(l)) continue;
      share[std::size_t(e)] = p.score == expert_score::sigmoid ? 1 / (1 + std::exp(-l)) : std::exp(l) / sum;
      rank[std::size_t(e)] = share[std::size_t(e)] + (p.has_score_bias ? at(score_bias, std::size_t(e)) : 0);
    }
    std::vector<std::pair<double, int>> best;  // groups, the best first
    for (int g = 0; g < p.groups; ++g) {
      std::vector<double> of(rank.begin() + g * length, rank.begin() + (g + 1) * length);
      std::sort(of.rbegin(), of.rend());
      best.push_back({-(of[0] + (length > 1 ? of[1] : 0)), g});
    }
    std::sort(best.begin(), best.end());
    std::vector<std::pair<double, int>> experts;
    for (int i = 0; i < p.kept_groups; ++i)
      for (int e = best[std::size_t(i)].second * length; e < (best[std::size_t(i)].second + 1) * length; ++e)
        if (rank[std::size_t(e)] > -1e29) experts.push_back({-rank[std::size_t(e)], e});
    std::sort(experts.begin(), experts.end());
    experts.resize(std::min(experts.size(), std::size_t(p.choices)));
    double chosen = 0;
    for (const auto& [order, e] : experts) chosen += share[std::size_t(e)];
    std::vector<double> result(std::size_t(p.experts), 0.0);
    for (const auto& [order, e] : experts)
      result[std::size_t(e)] = double(p.scale) * share[std::size_t(e)] / (p.is_normalised ? chosen : 1);
    for (int e = routed; e < p.experts; ++e) result[std::size_t(e)] = 1;
    return result;
  }
  /// down[e] swiglu(gate_up[e] x[t]), and the sum of magnitudes that bounds its error.
  std::vector<double> expert_of(int e, int t, double& magnitude) const {
    std::vector<double> hidden, result;
    for (int j = 0; j < p.n; ++j) {
      double both[2];
      for (int half = 0; half < 2; ++half) {
        const int row = p.is_interleaved ? 2 * j + half : half * p.n + j;
        both[half] = p.has_bias ? at(gate_up_bias, std::size_t(e * 2 * p.n + row)) : 0;
        for (int i = 0; i < p.d; ++i)
          both[half] += at(gate_up, std::size_t((e * 2 * p.n + row) * p.d + i)) * at(x, std::size_t(t * p.d + i));
      }
      const double limit = double(p.limit), g = both[0] > limit ? limit : both[0],
                   u = both[1] > limit    ? limit
                       : both[1] < -limit ? -limit
                                          : both[1];
      hidden.push_back(g / (1 + std::exp(-double(p.alpha) * g)) * (u + double(p.shift)));
    }
    magnitude = 0;
    for (int i = 0; i < p.d; ++i) {
      double sum = p.has_bias ? at(down_bias, std::size_t(e * p.d + i)) : 0, size = std::fabs(sum);
      for (int j = 0; j < p.n; ++j) {
        const double product = at(down, std::size_t((e * p.d + i) * p.n + j)) * hidden[std::size_t(j)];
        sum += product, size += std::fabs(product);
      }
      result.push_back(sum);
      magnitude = std::max(magnitude, size);
    }
    return result;
  }

  void expect() {
    run();
    expect_downloaded();
  }
  /// slack: of rounding errors, a factor.
  void expect_downloaded(double slack = 2) const {
    const bool is_half = std::is_same_v<T, tilewright::half_t>;
    const double unit = is_half ? 0x1p-10 : 0x1p-7, smallest = is_half ? 0x1p-24 : 0x1p-133;
    int wrong = 0;
    std::vector<int> taken(std::size_t(p.experts), 0);  // entries of each expert so far
    for (int t = 0; t < p.tokens; ++t) {
      std::vector<double> wanted(std::size_t(p.d), 0.0);
      double bound = smallest / unit;
      const std::vector<double> weights = weights_of(t);
      for (int e = 0; e < p.experts; ++e) {
        if (weights[std::size_t(e)] == 0 || (p.capacity > 0 && taken[std::size_t(e)]++ >= p.capacity)) continue;
        double magnitude;
        const auto of = expert_of(e, t, magnitude);
        for (int i = 0; i < p.d; ++i) wanted[std::size_t(i)] += weights[std::size_t(e)] * of[std::size_t(i)];
        bound += weights[std::size_t(e)] * magnitude;
      }
      for (int i = 0; i < p.d; ++i) {
        const double is = at(y, std::size_t(t * p.d + i)), should = wanted[std::size_t(i)];
        if (std::isnan(should) ? std::isnan(is) : std::fabs(is - should) <= slack * unit * (bound + std::fabs(should)))
          continue;
        if (++wrong < 4) ADD_FAILURE() << "y(" << t << ", " << i << ") is " << is << ", not " << should;
      }
    }
    EXPECT_EQ(wrong, 0);
  }

  moe_problem p;
  bool has_logits = true, keeps_routing = false, has_workspace = false;
  int first_expert = 0;
  on_gpu<T> x, gate_up, down, gate_up_bias, down_bias, y;
  on_gpu<L> logits;
  on_gpu<float> score_bias, weight;
  on_gpu<int> expert;
  std::optional<on_gpu<signed char>> memory;
  std::optional<fp8_weights> fp8;
  std::optional<coded_weights> codes;
};

}  // namespace moe_test
