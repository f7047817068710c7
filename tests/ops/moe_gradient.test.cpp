// SPDX-License-Identifier: MIT
// Gradients of an expert layer against differences of the layer in double.
#include <tilewright/ops.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "moe_oracle.hpp"

namespace {

namespace tw = tilewright::ops;
using namespace moe_test;
using tilewright::half_t;
using values = std::vector<double>;

/// The layer in double, with the experts that the layer on the GPU chooses.
struct double_layer {
  template <class T, class L>
  double_layer(const moe_case<T, L>& layer, const values& gradient)
      : p(layer.p),
        x(of(layer.x)),
        gate_up(of(layer.gate_up)),
        down(of(layer.down)),
        logits(of(layer.logits)),
        gate_up_bias(of(layer.gate_up_bias)),
        down_bias(of(layer.down_bias)),
        dy(gradient) {
    for (int t = 0; t < p.tokens; ++t) chosen.push_back(layer.weights_of(t));
  }
  static values of(const auto& v) { return {v.data.begin(), v.data.end()}; }

  /// The sum of dy y.
  double loss() const {
    double sum = 0;
    std::vector<int> taken(std::size_t(p.experts), 0);
    for (int t = 0; t < p.tokens; ++t) {
      const values weights = weights_of(t);
      for (int e = 0; e < p.experts; ++e)
        if (chosen[std::size_t(t)][std::size_t(e)] != 0 && (p.capacity == 0 || taken[std::size_t(e)]++ < p.capacity))
          sum += weights[std::size_t(e)] * expert_loss(e, t);
    }
    return sum;
  }
  values weights_of(int t) const {
    const int routed = p.experts - p.shared;
    values w(std::size_t(p.experts), 1.0);
    double all = 0, of_chosen = 0;
    for (int e = 0; e < routed; ++e) {
      const double l = logits[std::size_t(t * routed + e)];
      w[std::size_t(e)] = p.score == expert_score::sigmoid ? 1 / (1 + std::exp(-l)) : std::exp(l);
      all += w[std::size_t(e)];
      of_chosen += chosen[std::size_t(t)][std::size_t(e)] != 0 ? w[std::size_t(e)] : 0;
    }
    const double divisor = p.is_normalised ? of_chosen : p.score == expert_score::sigmoid ? 1 : all;
    for (int e = 0; e < routed; ++e) w[std::size_t(e)] *= double(p.scale) / divisor;
    return w;
  }
  double expert_loss(int e, int t) const {
    const double limit = double(p.limit);
    double sum = 0;
    for (int j = 0; j < p.n; ++j) {
      double both[2] = {};
      for (int half = 0; half < 2; ++half) {
        if (p.has_bias)
          both[half] = gate_up_bias[std::size_t(e * 2 * p.n + (p.is_interleaved ? 2 * j + half : half * p.n + j))];
        for (int i = 0; i < p.d; ++i) {
          const int row = p.is_interleaved ? 2 * j + half : half * p.n + j;
          both[half] += gate_up[std::size_t((e * 2 * p.n + row) * p.d + i)] * x[std::size_t(t * p.d + i)];
        }
      }
      const double g = std::min(both[0], limit), u = std::min(std::max(both[1], -limit), limit);
      double column = 0;
      for (int i = 0; i < p.d; ++i) column += dy[std::size_t(t * p.d + i)] * down[std::size_t((e * p.d + i) * p.n + j)];
      sum += g / (1 + std::exp(-double(p.alpha) * g)) * (u + double(p.shift)) * column;
    }
    for (int i = 0; i < p.d && p.has_bias; ++i)
      sum += dy[std::size_t(t * p.d + i)] * down_bias[std::size_t(e * p.d + i)];
    return sum;
  }

  moe_problem p;
  values x, gate_up, down, logits, gate_up_bias, down_bias, dy;
  std::vector<values> chosen;
};

/// Compares some elements of a gradient with differences of the loss.
template <class T>
void expect_gradient(const char* name, double_layer& layer, values& of, on_gpu<T>& gradient, double unit) {
  gradient.download();
  double largest = 0;
  for (const T g : gradient.data) largest = std::max(largest, std::fabs(double(float(g))));
  EXPECT_GT(largest, 0) << name;
  std::mt19937 random(9);
  for (int i = 0; i < 40; ++i) {
    const std::size_t at = random() % of.size();
    const double before = of[at], step = 1e-5;
    of[at] = before + step;
    const double above = layer.loss();
    of[at] = before - step;
    const double below = layer.loss();
    of[at] = before;
    EXPECT_NEAR(double(float(gradient.data[at])), (above - below) / (2 * step), 4 * unit * largest)
        << name << " element " << at;
  }
}

void expect_gradients(const moe_problem& p) {
  using T = half_t;
  moe_case<T, float> layer(p);
  const on_gpu<T> dy({p.tokens, p.d}, 21);
  on_gpu<T> d_x({p.tokens, p.d}), d_gate_up({p.experts, 2 * p.n, p.d}), d_down({p.experts, p.d, p.n});
  on_gpu<float> d_logits({p.tokens, p.experts - p.shared});
  on_gpu<T> d_gate_up_bias({p.experts, 2 * p.n}), d_down_bias({p.experts, p.d});
  const auto run = [&] {
    tw::moe_gradients d{.x = d_x, .logits = d_logits, .gate_up = d_gate_up, .down = d_down};
    if (p.has_bias) d.gate_up_bias = d_gate_up_bias, d.down_bias = d_down_bias;
    tw::moe_gradient(d, dy, layer.x, layer.logits, layer.gate_up, layer.down, layer.options());
  };
  run();
  double_layer reference(layer, double_layer::of(dy));
  expect_gradient("d_x", reference, reference.x, d_x, 0x1p-9);
  expect_gradient("d_logits", reference, reference.logits, d_logits, 0x1p-9);
  expect_gradient("d_gate_up", reference, reference.gate_up, d_gate_up, 0x1p-9);
  expect_gradient("d_down", reference, reference.down, d_down, 0x1p-9);
  if (p.has_bias) {
    expect_gradient("d_gate_up_bias", reference, reference.gate_up_bias, d_gate_up_bias, 0x1p-9);
    expect_gradient("d_down_bias", reference, reference.down_bias, d_down_bias, 0x1p-9);
  }
  const auto x = d_x.data, gate_up = d_gate_up.data;
  const auto logits = d_logits.data;
  run();
  EXPECT_EQ(d_logits.download(), logits);
  const auto is_equal = [](const std::vector<T>& a, const std::vector<T>& b) {
    return std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
  };
  EXPECT_TRUE(is_equal(d_x.download(), x) && is_equal(d_gate_up.download(), gate_up));
}

TEST(MoeGradient, OfAllInputs) {
  expect_gradients({.tokens = 20, .experts = 6, .choices = 2, .n = 24, .d = 40});
  expect_gradients({.tokens = 9,
                    .experts = 6,
                    .choices = 3,
                    .n = 16,
                    .d = 24,
                    .shared = 1,
                    .score = expert_score::sigmoid,
                    .is_normalised = true,
                    .scale = 2.5f,
                    .has_bias = true,
                    .is_interleaved = true,
                    .alpha = 1.702f,
                    .limit = 0.7f,
                    .shift = 1});
}
TEST(MoeGradient, OfScoresThatAreNotNormalised) {
  expect_gradients({.tokens = 8, .experts = 5, .choices = 2, .n = 11, .d = 13, .is_normalised = false});
  moe_problem p{.tokens = 30, .experts = 4, .choices = 2, .n = 16, .d = 16, .score = expert_score::sigmoid};
  p.has_bias = true, p.is_normalised = false, p.favourite = 2, p.capacity = 6;
  expect_gradients(p);
}

/// What a router of the caller needs: the gradient of the weights. Experts without tokens have gradients of 0.
TEST(MoeGradient, OfGivenWeights) {
  const moe_problem p{.tokens = 4, .experts = 3, .choices = 1, .n = 8, .d = 16};
  moe_case<half_t, float> layer(p);
  const on_gpu<half_t> dy({4, 16}, 21);
  on_gpu<half_t> d_down({3, 16, 8});
  on_gpu<float> d_weight({4, 1});
  on_gpu<int> expert({4, 1});
  on_gpu<float> weight({4, 1});
  expert.data = {2, -1, 0, 2}, weight.data = {0.5f, 1, 2, -1};
  expert.upload(), weight.upload();
  tw::moe_options o{.choices = 1, .expert = expert, .weight = weight};
  tw::moe(layer.y, layer.x, {}, layer.gate_up, layer.down, o);
  tw::moe_gradient({.weight = d_weight, .down = d_down}, dy, layer.x, {}, layer.gate_up, layer.down, o);
  layer.y.download(), d_weight.download(), d_down.download();
  for (std::size_t t = 0; t < 4; ++t) {
    double dot = 0;
    for (std::size_t i = 0; i < 16; ++i)
      dot += double(float(dy.data[t * 16 + i])) * double(float(layer.y.data[t * 16 + i]));
    EXPECT_NEAR(double(d_weight.data[t]) * double(weight.data[t]), t == 1 ? 0 : dot, 0.02) << t;
    if (t == 1) EXPECT_EQ(d_weight.data[t], 0);
  }
  for (std::size_t i = 0; i < 16 * 8; ++i) EXPECT_EQ(float(d_down.data[16 * 8 + i]), 0) << i;
}

TEST(MoeGradient, RefusesWhatHasNoGradient) {
  const moe_problem p{.tokens = 4, .experts = 3, .choices = 1, .n = 8, .d = 16};
  moe_case<half_t, float> layer(p);
  const on_gpu<half_t> dy({4, 16}, 21);
  const auto refusal = [&](const tw::moe_gradients& d, auto change) {
    tw::moe_options o{.choices = 1};
    change(o);
    return message_of([&] { tw::moe_gradient(d, dy, layer.x, layer.logits, layer.gate_up, layer.down, o); });
  };
  const auto none = [](tw::moe_options&) {};
  EXPECT_EQ(refusal({.x = layer.y}, none), "");
  EXPECT_EQ(refusal({.x = layer.down}, none), "moe_gradient: d_x is f16 (3, 16, 8), but must be as f16 (4, 16)");
  EXPECT_EQ(refusal({.x = layer.y, .down_bias = layer.y}, none),
            "moe_gradient: d_down_bias is f16 (4, 16), but must be f16 (3, 16) here");
}

}  // namespace
