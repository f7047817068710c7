// SPDX-License-Identifier: MIT
// Experts of one token: both GEMMs against sums in double, for entries that share experts, have none, or one twice.
#include "../explored.hpp"
#include "../rows/matrix.hpp"

#include <tilewright/kernels/routing/expert_dots.hpp>
#include <tilewright/launch/launch.hpp>

namespace rows_test {

namespace {

struct dots_case {
  index_t choices, experts, n, d, first_expert, capacity;
  bool is_interleaved, has_bias;
};

/// The entries that an expert of this GPU computes.
std::vector<bool> kept_entries(const dots_case& c, const std::vector<index_t>& expert) {
  std::vector<bool> kept(expert.size(), false);
  std::vector<index_t> taken(std::size_t(c.experts), 0);
  for (std::size_t i = 0; i < expert.size(); ++i) {
    const index_t e = expert[i] - c.first_expert;
    if (e < 0 || e >= c.experts) continue;
    kept[i] = c.capacity == 0 || taken[std::size_t(e)] < c.capacity;
    ++taken[std::size_t(e)];
  }
  return kept;
}

template <class Arch, class T>
void expect_layer(const dots_case& c, std::vector<index_t> expert, std::mt19937& random) {
  const index_t entries = c.choices;
  matrix<T> x(1, c.d, 8, random), gate_up(c.experts * 2 * c.n, c.d, 16, random, 0.2f),
      down(c.experts * c.d, c.n, 8, random, 0.2f), hidden(entries, c.n, 8, T(-7.0f)), y(1, c.d, 3, T(-7.0f)),
      first_bias(c.experts, 2 * c.n, 1, random), second_bias(c.experts, c.d, 5, random);
  matrix<float> weight(1, entries, 0, random);
  expert_dots_args<T> g{.x = x.data(), .w = gate_up.data(), .y = hidden.data(), .expert = expert.data()};
  g.choices = c.choices, g.experts = c.experts, g.first_expert = c.first_expert;
  g.capacity = c.capacity, g.n = c.n, g.k = c.d, g.row_stride = hidden.stride;
  const index_t step = c.is_interleaved ? 2 : 1, up = c.is_interleaved ? 1 : c.n;  // rows
  g.w_stride = step * gate_up.stride, g.expert_stride = 2 * c.n * gate_up.stride,
  g.product_stride = up * gate_up.stride;
  if (c.has_bias) g.bias = first_bias.data();
  g.bias_stride = first_bias.stride, g.bias_product_stride = up, g.bias_step = step;
  g.function = {1.5f, 2.0f, 0.5f};
  launch<expert_dots<Arch, T, expert_dots_kind::gate_up>>(g, {.check_lds = emulator::lds_checks::on});

  const std::vector<bool> kept = kept_entries(c, expert);
  const auto sigmoid = [](double v) { return 1 / (1 + std::exp(-v)); };
  for (index_t i = 0; i < entries; ++i)
    for (index_t j = 0; j < c.n; ++j) {
      if (!kept[std::size_t(i)]) {
        EXPECT_EQ(hidden(i, j), -7);
        continue;
      }
      const index_t e = expert[std::size_t(i)] - c.first_expert;
      double sums[2];
      for (index_t product = 0; product < 2; ++product) {
        const index_t row = j * step + product * up;
        sums[product] = c.has_bias ? first_bias(e, row) : 0;
        for (index_t k = 0; k < c.d; ++k) sums[product] += x(0, k) * gate_up(e * 2 * c.n + row, k);
      }
      const double gate = std::min(sums[0], 2.0), other = std::clamp(sums[1], -2.0, 2.0) + 0.5;
      EXPECT_NEAR(hidden(i, j), gate * sigmoid(1.5 * gate) * other, 0.03) << i << ", " << j;
    }
  EXPECT_TRUE(hidden.has_clean_gaps(T(-7.0f)));

  expert_dots_args<T> s = g;
  s.x = hidden.data(), s.w = down.data(), s.y = y.data(), s.weight = weight.data();
  s.n = c.d, s.k = c.n;
  s.w_stride = down.stride, s.expert_stride = c.d * down.stride, s.product_stride = 0;
  s.bias = c.has_bias ? second_bias.data() : nullptr, s.bias_stride = second_bias.stride, s.bias_step = 1;
  launch<expert_dots<Arch, T, expert_dots_kind::down>>(s, {.check_lds = emulator::lds_checks::on});
  for (index_t j = 0; j < c.d; ++j) {
    double sum = 0;
    for (index_t i = 0; i < c.choices; ++i) {
      if (!kept[std::size_t(i)]) continue;
      const index_t e = expert[std::size_t(i)] - c.first_expert;
      double z = c.has_bias ? second_bias(e, j) : 0;
      for (index_t k = 0; k < c.n; ++k) z += hidden(i, k) * down(e * c.d + j, k);
      sum += weight(0, i) * z;
    }
    EXPECT_NEAR(y(0, j), sum, 0.01 * std::abs(sum) + 0.02) << j;
  }
  EXPECT_TRUE(y.has_clean_gaps(T(-7.0f)));
}

template <class Arch, class T>
void expect_random_layers(unsigned seed, int count) {
  std::mt19937 random(seed);
  const auto below = [&](unsigned n) { return index_t(random() % n); };
  for (int i = 0; i < count; ++i) {
    const dots_case c{1 + below(32),       1 + below(9), 8 * (1 + below(5)),
                      8 * (1 + below(40)), below(3),     below(3) == 0 ? 1 + below(3) : 0,
                      below(2) == 0,       below(2) == 0};
    SCOPED_TRACE("layer " + std::to_string(i));
    std::vector<index_t> expert(std::size_t(c.choices), 0);
    for (index_t& e : expert) e = below(8) == 0 ? -1 : below(unsigned(c.experts + 3));
    expect_layer<Arch, T>(c, expert, random);
  }
}

}  // namespace

TEST(ExpertDots, RandomLayers) {
  expect_random_layers<arch::sm90, bfloat16_t>(1, 5);
  expect_random_layers<arch::sm90, half_t>(2, 3);
  expect_random_layers<arch::gfx942, half_t>(3, 4);  // 64 lanes
}
// More vectors than are in flight at once, of several experts; and no expert at all.
TEST(ExpertDots, LongRowsAndNoExperts) {
  std::mt19937 random(5);
  expect_layer<arch::sm90, bfloat16_t>({3, 4, 8, 2104, 0, 0, false, true}, {2, 0, 3}, random);
  expect_layer<arch::sm90, bfloat16_t>({4, 3, 1096, 8, 0, 0, true, true}, {1, 0, 2, 1}, random);
  expect_layer<arch::sm90, bfloat16_t>({2, 3, 520, 8, 0, 0, true, false}, {-1, 2}, random);
  expect_layer<arch::sm90, bfloat16_t>({4, 3, 8, 16, 0, 0, false, true}, {-1, 3, 7, -1}, random);
}
TEST(ExpertDots, RefusesWhatItCannotDo) {
  using kernel = expert_dots<arch::sm90, bfloat16_t, expert_dots_kind::down>;
  alignas(16) bfloat16_t x[96] = {};
  const index_t expert[4] = {};
  const float weight[4] = {};
  expert_dots_args<bfloat16_t> g{x, x + 32, x + 64, expert, weight, 4, 1, 0, 0, 4, 8, 8, 8, 32};
  EXPECT_EQ(kernel::check(g), nullptr);
  const auto refused = [&](auto change) {
    auto changed = g;
    change(changed);
    const char* const why = kernel::check(changed);
    return std::string(why ? why : "");
  };
  EXPECT_NE(refused([](auto& a) { a.choices = 33; }).find("32 choices"), std::string::npos);
  EXPECT_NE(refused([](auto& a) { a.weight = nullptr; }).find("null"), std::string::npos);
  EXPECT_NE(refused([](auto& a) { a.k = 4; }).find("vector"), std::string::npos);
  EXPECT_NE(refused([](auto& a) { a.row_stride = 9; }).find("vector"), std::string::npos);
  EXPECT_NE(refused([](auto& a) { a.w += 1; }).find("vector"), std::string::npos);
  EXPECT_NE(refused([](auto& a) { a.function.limit = 0; }).find("limit"), std::string::npos);
  EXPECT_NE(refused([](auto& a) { a.y -= 1; }).find("overlaps"), std::string::npos);
  EXPECT_NE(refused([](auto& a) { a.y = const_cast<bfloat16_t*>(a.w) + 27; }).find("overlaps"), std::string::npos);
  EXPECT_NE(refused([](auto& a) { a.experts = 0; }).find("positive"), std::string::npos);
}

}  // namespace rows_test
