// SPDX-License-Identifier: MIT
// Both GEMMs of experts on the CPU emulator: gathered rows, SwiGLU, biases, empty and uneven experts.
#include <tilewright/kernels/gemm/choice/hopper_gemm_choice.hpp>
#include <tilewright/kernels/gemm/grouped/expert_gemm.hpp>
#include <tilewright/kernels/gemm/grouped/grouped_hopper.hpp>
#include <tilewright/launch/launch.hpp>

#include "../../explored.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace tilewright {
namespace {

using enum operand_major;

struct experts_problem {
  std::vector<index_t> counts;  // entries of each expert
  index_t n = 8, k = 8, tokens = 7, choices = 3;
  bool is_interleaved = false, has_bias = false, has_workspace = false, has_scales = false;
  float alpha = 1, limit = __builtin_inff(), shift = 0;
};

/// Entries in any order, some places of the table without one, a token that is not a number. R: of bias and C.
template <class T, class R = T>
struct experts_case {
  explicit experts_case(const experts_problem& given, unsigned seed = 1) : p(given) {
    std::mt19937 random(seed);
    const auto fill = [&]<class E>(std::vector<E>& v, std::size_t size) {
      v.resize(size);
      for (E& x : v) x = type_convert<E>(float(int(random() % 17) - 8) / 8);
    };
    for (const index_t count : p.counts) ends.push_back(count + (ends.empty() ? 0 : ends.back()));
    const auto groups = p.counts.size();
    args.m = ends.back() + 2;
    args.n = p.n, args.k = p.k;
    args.lda = p.k + 16, args.ldc = p.n + 16;
    for (index_t i = 0; i < args.m; ++i) source.push_back(index_t(random() % unsigned(p.tokens * p.choices)));
    if (ends.back() > 3) source[3] = -1;
    fill(x, std::size_t(p.tokens) * std::size_t(args.lda));
    fill(w, groups * std::size_t(2 * p.n * p.k));
    fill(bias, groups * std::size_t(2 * p.n));
    for (index_t t = 0; t < p.tokens; ++t) row_scale.push_back(float(1 + random() % 8) / 8);
    for (std::size_t i = 0; i < groups * std::size_t(2 * p.n); ++i) column_scale.push_back(float(1 + random() % 8) / 8);
    if (p.has_scales) args.row_scale = row_scale.data(), args.column_scale = column_scale.data();
    std::fill_n(x.begin() + args.lda, p.k, type_convert<T>(__builtin_nanf("")));
    args.ldb = p.is_interleaved ? 2 * p.k : p.k;
    args.product_stride_b = p.is_interleaved ? p.k : long_index_t(p.n) * p.k;
    args.batch_stride_b = long_index_t(2) * p.n * p.k;
    args.groups = index_t(groups);
    args.choices = p.choices, args.tokens = p.tokens;
    args.swiglu_alpha = p.alpha, args.swiglu_limit = p.limit, args.swiglu_shift = p.shift;
    args.column_step = p.is_interleaved ? 2 : 1;
    args.product_stride_bias = p.is_interleaved ? 1 : p.n;
    args.group_stride_bias = args.group_stride_scale = 2 * p.n;
    args.product_stride_scale = args.product_stride_bias;
    c.assign(std::size_t(args.m) * std::size_t(args.ldc), type_convert<R>(-77.0f));
    args.a = x.data(), args.b = w.data(), args.c = c.data();
    args.ends = ends.data(), args.source = source.data();
    if (p.has_bias) args.bias = bias.data();
  }

  static double value(const auto& v, long_index_t i) { return double(float(v[std::size_t(i)])); }
  /// Column j of product 0 (gate) or 1 (up) of expert e, for a row of values and its scale.
  double column(const std::vector<double>& row, double scale, std::size_t e, index_t j, index_t product) const {
    const long_index_t at = p.is_interleaved ? 2 * j + product : product * p.n + j;
    double sum = 0;
    for (index_t l = 0; l < p.k; ++l) sum += row[std::size_t(l)] * value(w, (long_index_t(e) * 2 * p.n + at) * p.k + l);
    if (p.has_scales) sum *= scale * double(column_scale[e * std::size_t(2 * p.n) + std::size_t(at)]);
    return sum + (p.has_bias ? value(bias, long_index_t(e) * 2 * p.n + at) : 0);
  }
  double wanted(index_t i, index_t j) const {
    const auto e = std::size_t(std::upper_bound(ends.begin(), ends.end(), i) - ends.begin());
    if (e == ends.size()) return -77;
    std::vector<double> row(std::size_t(p.k), 0.0);
    const index_t s = source[std::size_t(i)];
    for (index_t l = 0; s >= 0 && l < p.k; ++l)
      row[std::size_t(l)] = value(x, long_index_t(s / p.choices) * args.lda + l);
    const double scale = s < 0 ? 0 : double(row_scale[std::size_t(s / p.choices)]);
    double gate = column(row, scale, e, j, 0), up = column(row, scale, e, j, 1);
    if (gate > double(p.limit)) gate = double(p.limit);
    if (std::fabs(up) > double(p.limit)) up = std::copysign(double(p.limit), up);
    return gate / (1 + std::exp(-double(p.alpha) * gate)) * (up + double(p.shift));
  }
  void expect(const std::vector<R>& got) const {
    index_t wrong = 0;
    for (index_t i = 0; i < args.m; ++i)
      for (index_t j = 0; j < args.ldc; ++j) {
        const double is = value(got, long_index_t(i) * args.ldc + j), should = j < p.n ? wanted(i, j) : -77;
        if (std::isnan(should) ? std::isnan(is) : std::fabs(is - should) <= 0.01 + 0.01 * std::fabs(should)) continue;
        if (++wrong < 4) ADD_FAILURE() << "element " << i << ", " << j << " is " << is << ", not " << should;
      }
    EXPECT_EQ(wrong, 0);
  }

  experts_problem p;
  expert_args args;
  std::vector<index_t> ends, source;
  std::vector<T> x, w;
  std::vector<R> bias, c;
  std::vector<float> row_scale, column_scale;
};

template <class Policy>
void expect_experts(const experts_problem& p, launch_options options = {.workers = 1}) {
  experts_case<typename Policy::element_type, typename Policy::result_type> experts(p);
  options.check_lds = emulator::lds_checks::on;
  // Not a number, so that partial sums that are read before they were written are seen in the result.
  std::vector<float> workspace;
  if (p.has_workspace) {
    workspace.assign(hopper_gemm_workspace::bytes / sizeof(float), __builtin_nanf(""));
    std::fill_n(workspace.begin(), hopper_gemm_workspace::num_counters, 0.0f);
    experts.args.workspace = workspace.data();
  }
  const auto report = launch<grouped_gemm_kernel<Policy>>(experts.args, options);
  EXPECT_EQ(report.totals.conflicts, 0);
  experts.expect(experts.c);
}

/// The same entries, whose rows are in order in memory.
template <class Policy>
void expect_ordered(const experts_problem& p, launch_options options = {.workers = 1}) {
  experts_case<typename Policy::element_type, typename Policy::result_type> experts(p);
  expert_args& args = experts.args;
  auto rows = experts.x;
  rows.resize(std::size_t(args.m) * std::size_t(args.lda));
  std::vector<float> scales(std::size_t(args.m), 0.0f);
  for (index_t i = 0; i < args.m; ++i) {
    const index_t s = experts.source[std::size_t(i)], token = s / p.choices;
    for (index_t l = 0; l < args.k; ++l)
      rows[std::size_t(i * args.lda + l)] =
          s < 0 ? type_convert<typename Policy::element_type>(0.0f) : experts.x[std::size_t(token * args.lda + l)];
    if (s >= 0) scales[std::size_t(i)] = experts.row_scale[std::size_t(token)];
  }
  args.a = rows.data(), args.source = nullptr, args.tokens = 0;
  if (p.has_scales) args.row_scale = scales.data();
  options.check_lds = emulator::lds_checks::on;
  launch<grouped_gemm_kernel<Policy>>(args, options);
  experts.expect(experts.c);
}

constexpr hopper_gemm_tile small{.m = 64, .n = 64, .consumers = 1}, pair{.m = 128, .n = 128, .cluster_m = 2};
using hopper_small = expert_gate_up<gemm_hopper<bfloat16_t, k, k, small>>;
using hopper_pair = expert_gate_up<gemm_hopper<half_t, k, k, pair>>;
constexpr block_tile tile_64{64, 64, 32, 2, 1, arch::matrix_op::mfma_32x32x8_x2};
using portable = expert_gate_up<gemm_policy<arch::gfx942, bfloat16_t, k, k, 8, tile_64>>;
using any_alignment = expert_gate_up<gemm_policy<arch::gfx1201, half_t, k, k, 1>>;
using on_sm80 = expert_gate_up<gemm_policy<arch::sm80, bfloat16_t, k, k, 8>>;

TEST(ExpertGemm, GatheredRowsOnHopper) {
  expect_experts<hopper_small>({.counts = {3, 0, 65, 1}, .n = 40, .k = 3 * 64 + 8, .has_bias = true});
  expect_experts<hopper_pair>({.counts = {0, 131, 2, 0}, .n = 72, .k = 136, .is_interleaved = true});
}
TEST(ExpertGemm, RowsInOrder) {
  experts_problem p{.counts = {3, 0, 65, 1}, .n = 40, .k = 136, .has_bias = true, .has_scales = true};
  expect_ordered<expert_gate_up<gemm_hopper<bfloat16_t, k, k, small>, false>>(p);
  p.is_interleaved = true;
  expect_ordered<expert_gate_up<gemm_policy<arch::gfx942, bfloat16_t, k, k, 8, tile_64>, false>>(p);
}
TEST(ExpertGemm, LastWaveOfTilesIsSplit) {
  expect_experts<hopper_small>({.counts = {3, 0, 70}, .n = 8, .k = 24 * 64, .has_workspace = true},
                               {.workers = 3, .resident_clusters = 2});
}
TEST(ExpertGemm, PassesInExploredSchedules) {
  testing_schedules::expect_in_explored_schedules([] {
    expect_experts<hopper_small>({.counts = {3, 0, 65}, .n = 40, .k = 136, .has_bias = true}, {.resident_clusters = 1});
    expect_experts<hopper_pair>({.counts = {9, 2}, .n = 72, .k = 136}, {.resident_clusters = 1});
  });
}
TEST(ExpertGemm, GatheredRowsOnOtherTargets) {
  expect_experts<portable>({.counts = {3, 0, 65, 1}, .n = 40, .k = 72, .has_bias = true});
  expect_experts<any_alignment>({.counts = {5, 0, 2}, .n = 11, .k = 37, .is_interleaved = true, .has_bias = true});
  expect_experts<on_sm80>({.counts = {0, 33}, .n = 24, .k = 72});
}
using e4m3_hopper = expert_gate_up<gemm_hopper<fp8_ocp_t, k, k, small, bfloat16_t>>;
struct e4m3 : gemm_policy<arch::gfx942, fp8_fnuz_t, k, k, 16> {
  using result_type = bfloat16_t;
};
TEST(ExpertGemm, ScalesOfRowsAndColumns) {
  experts_problem p{.counts = {3, 0, 65, 1}, .n = 48, .k = 272, .has_bias = true, .has_scales = true};
  expect_experts<e4m3_hopper>(p);
  p.is_interleaved = true;
  expect_experts<expert_gate_up<e4m3>>(p);
}
TEST(ExpertGemm, ClampedSwiglu) {
  const experts_problem p{.counts = {9, 30}, .n = 32, .k = 64, .has_bias = true, .alpha = 1.7f, .limit = 2, .shift = 1};
  expect_experts<hopper_small>(p);
  expect_experts<portable>(p);
}

// TILEWRIGHT_RANDOM_PROGRAMS: how many problems.
TEST(ExpertGemm, RandomProblems) {
  const char* const count_text = std::getenv("TILEWRIGHT_RANDOM_PROGRAMS");
  const char* const seed_text = std::getenv("TILEWRIGHT_PROPERTY_SEED");
  std::mt19937 random(seed_text ? unsigned(std::atoi(seed_text)) : 1u);
  const auto between = [&](index_t first, index_t last) {
    return first + index_t(random() % unsigned(last - first + 1));
  };
  for (int i = count_text ? std::atoi(count_text) : 1; i > 0 && !HasFailure(); --i) {
    experts_problem p;
    for (index_t g = between(1, 12); g > 0; --g)
      p.counts.push_back(between(0, 2) == 0 ? 0 : between(0, 5) == 0 ? between(60, 200) : between(1, 12));
    p.n = 8 * between(1, 20), p.k = 8 * between(1, 40);
    p.tokens = between(2, 90), p.choices = between(1, 8);
    p.is_interleaved = between(0, 1) == 0, p.has_bias = between(0, 1) == 0, p.has_workspace = between(0, 1) == 0;
    if (between(0, 2) == 0) p.alpha = 1.7f, p.limit = 2, p.shift = 1;
    const launch_options options{.workers = between(1, 3), .resident_clusters = between(1, 4)};
    expect_experts<hopper_small>(p, options);
    expect_experts<hopper_pair>(p, options);
    expect_experts<portable>(p);
  }
}

template <class Policy>
void expect_down() {
  using T = typename Policy::element_type;
  experts_case<T> experts({.counts = {5, 0, 66}, .n = 40, .k = 72, .has_bias = true, .has_scales = true});
  expert_args& args = experts.args;
  std::vector<T> rows(std::size_t(args.m * args.k));
  std::mt19937 random(3);
  for (T& x : rows) x = type_convert<T>(float(int(random() % 9) - 4) / 4);
  std::vector<float> scales;
  for (index_t i = 0; i < args.m; ++i) scales.push_back(float(1 + i % 5) / 4);
  args.a = rows.data(), args.lda = args.k, args.source = nullptr, args.row_scale = scales.data();
  launch<grouped_gemm_kernel<Policy>>(args, {.workers = 1, .check_lds = emulator::lds_checks::on});
  for (index_t i = 0; i < args.m; ++i) {
    const auto e = std::size_t(std::upper_bound(experts.ends.begin(), experts.ends.end(), i) - experts.ends.begin());
    const std::vector<double> row(rows.begin() + i * args.k, rows.begin() + (i + 1) * args.k);
    for (index_t j = 0; j < args.n; ++j)
      ASSERT_NEAR(experts.value(experts.c, i * args.ldc + j),
                  e < 3 ? experts.column(row, double(scales[std::size_t(i)]), e, j, 0) : -77, 0.15)
          << i << ", " << j;
  }
}
TEST(ExpertGemm, DownScalesAndAddsTheBiasOfEachExpert) {
  expect_down<expert_down<gemm_hopper<bfloat16_t, k, k, small>>>();
  constexpr hopper_gemm_tile exchanged{.m = 64, .n = 24, .consumers = 1, .swap_ab = true};
  expect_down<expert_down<gemm_hopper<bfloat16_t, k, k, exchanged>>>();
  expect_down<expert_down<gemm_policy<arch::gfx942, bfloat16_t, k, k, 8, tile_64>>>();
}

template <class Policy>
std::string refusal(auto change) {
  experts_case<typename Policy::element_type> experts({.counts = {3, 4}, .n = 16, .k = 16});
  change(experts.args);
  const char* const why = grouped_gemm_kernel<Policy>::check(experts.args);
  return why ? why : "";
}
template <class Policy>
void expect_refusals() {
  EXPECT_EQ(refusal<Policy>([](expert_args&) {}), "");
  EXPECT_EQ(refusal<Policy>([](expert_args& a) { a.source = nullptr; }), "a pointer is null: source");
  EXPECT_EQ(refusal<Policy>([](expert_args& a) { a.tokens = 0; }), "choices and tokens must be positive");
  EXPECT_EQ(refusal<Policy>([](expert_args& a) { a.choices = 0; }), "choices and tokens must be positive");
  EXPECT_EQ(refusal<Policy>([](expert_args& a) { a.beta = 1; }), "GEMMs of experts take no alpha and no beta");
  EXPECT_EQ(refusal<Policy>([](expert_args& a) { a.column_step = 0; }), "column_step must be positive");
  for (const float limit : {0.0f, -1.0f, __builtin_nanf("")})
    EXPECT_EQ(refusal<Policy>([&](expert_args& a) { a.swiglu_limit = limit; }),
              "swiglu_limit must be positive; infinity is no limit");
}
TEST(ExpertGemm, ArgumentsThatItRefuses) {
  expect_refusals<hopper_small>();
  expect_refusals<portable>();
  EXPECT_EQ((refusal<expert_down<gemm_hopper<bfloat16_t, k, k, small>>>([](expert_args&) {})),
            "this GEMM of experts takes rows of A in order: source must be null");
  EXPECT_EQ((refusal<expert_gate_up<gemm_hopper<bfloat16_t, k, k, small>, false>>([](expert_args&) {})),
            "this GEMM of experts takes rows of A in order: source must be null");
  EXPECT_EQ(refusal<portable>([](expert_args& a) { a.tokens = 1 << 26; }),
            "the tokens take 2 GiB or more, which this kernel does not reach; use several launches");
  EXPECT_EQ(refusal<hopper_small>([](expert_args& a) { a.tokens = 1 << 26; }), "");
  // Memory right after the tokens is free, though the table is longer than they are.
  experts_case<bfloat16_t> experts({.counts = {30}, .n = 16, .k = 16});
  std::vector<bfloat16_t> both(4096);
  experts.args.a = both.data(), experts.args.c = both.data() + 7 * experts.args.lda;
  EXPECT_EQ(grouped_gemm_kernel<portable>::check(experts.args), nullptr);
  experts.args.c = both.data() + 6 * experts.args.lda;
  EXPECT_NE(grouped_gemm_kernel<portable>::check(experts.args), nullptr);
}

}  // namespace
}  // namespace tilewright
