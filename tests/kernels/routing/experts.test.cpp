// SPDX-License-Identifier: MIT
// The way of tokens to experts and back: choose_experts.hpp, order_by_expert.hpp, expert_rows.hpp.
#include "../explored.hpp"
#include "../rows/matrix.hpp"

#include <tilewright/kernels/routing/choose_experts.hpp>
#include <tilewright/kernels/routing/choose_experts_by_score.hpp>
#include <tilewright/kernels/routing/expert_column_sums.hpp>
#include <tilewright/kernels/routing/expert_rows.hpp>
#include <tilewright/kernels/routing/order_by_expert.hpp>
#include <tilewright/launch/launch.hpp>

#include <numeric>

namespace rows_test {

namespace {

using choose = choose_experts<arch::sm90, bfloat16_t, 256>;
using choose_one_by_one = choose_experts<arch::gfx942, float, 140, 1, 33>;
using scatter = expert_rows<arch::gfx942, half_t, row_tile{64, 64, 2, 8}, expert_rows_kind::scatter>;
using combine = expert_rows<arch::gfx1201, half_t, row_tile{32, 32, 3, 1}, expert_rows_kind::combine>;

static_assert(choose_most_experts(8, 8) == 32 && choose_most_experts(129, 8) == 160 &&
              choose_most_experts(500, 4) == 512);
static_assert(choose_most_experts(513, 8) == 1024 && choose_most_experts(2048, 8) == 2048);
static_assert(choose_most_experts(65, 1) == 128 && choose_most_experts(2000, 2) == 2048);
static_assert(choose_order_limit(256) == 256 && choose_order_limit(257) == 1024 && choose_order_limit(4096) == 4096);
static_assert(choose_expert_rows_tile(2, 4096, true, expert_rows_kind::combine) == row_tile{256, 256, 2, 8});

template <class Kernel, class T>
void expect_chosen(matrix<T> x, index_t choices, bool is_normalised) {
  SCOPED_TRACE(std::to_string(x.rows) + " x " + std::to_string(x.cols) + ", " + std::to_string(choices));
  matrix<index_t> expert(x.rows, choices, 0, -7);
  matrix<float> weight(x.rows, choices, 0, -7.0f);
  launch<Kernel>({x.data(), expert.data(), weight.data(), x.rows, x.cols, choices, x.stride, is_normalised},
                 {.check_lds = emulator::lds_checks::on});
  for (index_t r = 0; r < x.rows; ++r) {
    std::vector<index_t> order(std::size_t(x.cols), 0);
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(),
              [&](index_t a, index_t b) { return x(r, a) > x(r, b) || (x(r, a) == x(r, b) && a < b); });
    double sum = 0;
    for (index_t i = 0; i < (is_normalised ? choices : x.cols); ++i)
      sum += std::exp(x(r, order[std::size_t(i)]) - x(r, order[0]));
    for (index_t i = 0; i < choices; ++i) {
      EXPECT_EQ(expert.at(r, i), order[std::size_t(i)]);
      EXPECT_NEAR(weight(r, i), std::exp(x(r, order[std::size_t(i)]) - x(r, order[0])) / sum, 1e-5);
    }
  }
}

/// Every place and end against a stable sort. One of `one_of` entries has a negative expert. capacity > 0: the most
/// entries of an expert.
template <class Arch, index_t MostExperts = 1024, bool LimitsRows = false>
void expect_ordered(index_t entries, index_t experts, index_t all_experts, index_t first, std::mt19937& random,
                    unsigned one_of = 50, index_t capacity = 0) {
  using kernel = order_by_expert<Arch, MostExperts, LimitsRows>;
  SCOPED_TRACE(std::to_string(entries) + " to " + std::to_string(experts));
  std::vector<index_t> expert(std::size_t(entries), 0), ends(std::size_t(experts), -7), source(expert.size(), -7),
      position = source;
  for (index_t& e : expert) e = index_t(random() % unsigned(all_experts)) - (random() % one_of == 0 ? all_experts : 0);
  std::vector<index_t> counts(std::size_t(kernel::workspace_rows(entries) * experts), -7);
  launch<kernel>(
      {expert.data(), ends.data(), source.data(), position.data(), counts.data(), entries, experts, first, capacity},
      {.check_lds = emulator::lds_checks::on});
  std::vector<std::vector<index_t>> of_expert(std::size_t(experts), std::vector<index_t>{});
  for (index_t i = 0; i < entries; ++i) {
    const index_t e = expert[std::size_t(i)] - first;
    if (e < 0 || e >= experts) continue;
    auto& of = of_expert[std::size_t(e)];
    if (!LimitsRows || index_t(of.size()) < capacity) of.push_back(i);
  }
  std::vector<index_t> wanted;
  for (index_t e = 0; e < experts; ++e) {
    wanted.insert(wanted.end(), of_expert[std::size_t(e)].begin(), of_expert[std::size_t(e)].end());
    EXPECT_EQ(ends[std::size_t(e)], index_t(wanted.size()));
  }
  std::vector<index_t> wanted_place(expert.size(), -1);
  for (std::size_t p = 0; p < wanted.size(); ++p) wanted_place[std::size_t(wanted[p])] = index_t(p);
  wanted.resize(expert.size(), -1);
  EXPECT_EQ(source, wanted);
  EXPECT_EQ(position, wanted_place);
}

}  // namespace

TEST(ChooseExperts, AreTheLargestWithTheirWeights) {
  std::mt19937 random(61);
  for (int i = 0; i < 4; ++i) {
    const index_t tokens = 1 + index_t(random() % 80), experts = 8 * (1 + index_t(random() % 32));
    expect_chosen<choose, bfloat16_t>(matrix<bfloat16_t>(tokens, experts, 8, random), 1 + index_t(random() % 8), i % 2);
    matrix<float> x(tokens, 33 * (i + 1), i, random, 3);
    if (i % 2 == 0) {  // differences in the last bits, and equal ones
      for (float& value : x.values)
        value = value < 0 ? -1 + std::round(value * 9) * 0x1p-24f : -0.0f * std::round(value);
    }
    expect_chosen<choose_one_by_one, float>(x, 33, i % 2);  // more choices than lanes
  }
}

template <class Kernel, class T>
void expect_infinities_last() {
  constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  alignas(16) T x[16] = {T(-infinity), T(nan), T(5.0f)};
  x[4] = std::is_same_v<T, float> ? T(bit_cast<float>(0x7f800001u)) : T(-nan);
  for (const int i : {3, 5, 6, 7}) x[i] = x[0];
  std::fill_n(x + 8, 8, T(nan));  // another token in the same wave
  for (const bool is_normalised : {true, false}) {
    std::vector<index_t> expert(16, -7);
    std::vector<float> weight(16, -7.0f);
    launch<Kernel>({x, expert.data(), weight.data(), 2, 8, 8, 8, is_normalised});
    EXPECT_EQ(expert, (std::vector<index_t>{2, 0, 3, 5, 6, 7, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1}));
    EXPECT_EQ(weight, (std::vector<float>{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  }
}

/// Vectors of 16 bytes that a token's logits take in LDS: whole groups, and an odd number.
template <index_t MostExperts, class Kernel = choose_experts<arch::sm90, float, MostExperts>>
constexpr index_t logit_vectors = (Kernel::lds_bytes / Kernel::block_tokens - 16 * 8) / 16;
TEST(ChooseExperts, GroupsOfLogitsAreWiderWhereThereAreMoreExperts) {
  EXPECT_EQ(logit_vectors<145>, 152 / 4 | 1);  // groups of 8
  EXPECT_EQ(logit_vectors<161>, 176 / 4 | 1);  // of 16
  EXPECT_EQ(logit_vectors<481>, 496 / 4 | 1);
  EXPECT_EQ(logit_vectors<513>, 544 / 4 | 1);  // of 32
}
TEST(ChooseExperts, FourBlocksFitInLds) {
  EXPECT_EQ((choose_experts<arch::sm90, float, 384>::block_tokens), 32);
  EXPECT_EQ((choose_experts<arch::sm90, float, 448>::block_tokens), 16);
  EXPECT_EQ((choose_experts<arch::gfx942, float, 2048, 1, 2048>::block_tokens), 1);  // two blocks of one token
}
TEST(ChooseExperts, InfinitiesComeLastAndNaNIsNoExpert) {
  expect_infinities_last<choose_one_by_one, float>();
  expect_infinities_last<choose, bfloat16_t>();
  expect_infinities_last<choose_experts_by_score<arch::gfx942, float, 140>, float>();
  expect_infinities_last<choose_experts_by_score<arch::sm90, bfloat16_t, 256>, bfloat16_t>();
}

/// Choices by score, bias and groups against a search by rank in double.
struct scored_problem {
  index_t experts, choices;
  expert_score score = expert_score::sigmoid;
  bool has_bias = true, is_normalised = true;
  index_t groups = 1, kept_groups = 1, shared = 0;
  float scale = 1;
};
template <class Kernel, class T>
void expect_scored(const scored_problem& p, index_t tokens, std::mt19937& random) {
  SCOPED_TRACE(std::to_string(p.experts) + " experts in " + std::to_string(p.groups));
  matrix<T> x(tokens, p.experts, 8, random, 3);
  if (tokens > 2) x.values[std::size_t(x.stride * 2 + 1)] = T(__builtin_nanf(""));
  const index_t entries = p.choices + p.shared, length = p.experts / p.groups;
  std::vector<float> bias;
  for (index_t e = 0; e < p.experts; ++e) bias.push_back(float(int(random() % 65) - 32) / 64);
  matrix<index_t> expert(tokens, entries, 0, -7);
  matrix<float> weight(tokens, entries, 0, -7.0f);
  choose_experts_args<T> args{x.data(), expert.data(), weight.data(), tokens, p.experts, p.choices, x.stride};
  args.is_normalised = p.is_normalised, args.score = p.score, args.bias = p.has_bias ? bias.data() : nullptr;
  args.groups = p.groups, args.kept_groups = p.kept_groups, args.shared = p.shared, args.scale = p.scale;
  launch<Kernel>(args, {.check_lds = emulator::lds_checks::on});
  for (index_t r = 0; r < tokens; ++r) {
    std::vector<double> share, compared;
    double sum = 0;
    for (index_t e = 0; e < p.experts; ++e) sum += std::isnan(x(r, e)) ? 0 : std::exp(x(r, e));
    for (index_t e = 0; e < p.experts; ++e) {
      share.push_back(p.score == expert_score::sigmoid ? 1 / (1 + std::exp(-x(r, e))) : std::exp(x(r, e)) / sum);
      compared.push_back(std::isnan(share.back()) ? -1e9
                                                  : share.back() + (p.has_bias ? double(bias[std::size_t(e)]) : 0));
    }
    const auto best_of = [&](index_t g) {
      std::vector<double> of(compared.begin() + g * length, compared.begin() + (g + 1) * length);
      std::sort(of.rbegin(), of.rend());
      return length > 1 ? of[0] + of[1] : of[0];
    };
    for (index_t g = 0; g < p.groups; ++g) {  // of the groups that are kept, the gap to the others must be clear
      index_t better = 0;
      for (index_t o = 0; o < p.groups; ++o) better += best_of(o) > best_of(g);
      for (index_t e = g * length; better >= p.kept_groups && e < (g + 1) * length; ++e) share[std::size_t(e)] = -1;
    }
    double chosen = 0, last = 1e9;
    std::vector<bool> is_chosen(std::size_t(p.experts), false);
    for (index_t i = 0; i < p.choices; ++i) {
      const auto e = std::size_t(expert.at(r, i));
      ASSERT_LT(e, std::size_t(p.experts));
      EXPECT_FALSE(is_chosen[e]) << "twice";
      EXPECT_GE(share[e], 0) << "of a group that is not kept";
      EXPECT_LE(compared[e], last + 1e-6) << "order";
      is_chosen[e] = true, last = compared[e], chosen += share[e];
    }
    for (std::size_t e = 0; e < share.size(); ++e) {
      if (!is_chosen[e] && share[e] >= 0) {
        EXPECT_LE(compared[e], last + 1e-6) << "a better one is left";
      }
    }
    for (index_t i = 0; i < p.choices; ++i)
      EXPECT_NEAR(weight(r, i), double(p.scale) * share[std::size_t(expert.at(r, i))] / (p.is_normalised ? chosen : 1),
                  1e-5);
    for (index_t i = 0; i < p.shared; ++i) {
      EXPECT_EQ(expert.at(r, p.choices + i), p.experts + i);
      EXPECT_EQ(weight(r, p.choices + i), 1);
    }
  }
}
TEST(ChooseExperts, ByScoresWithBiasAndGroups) {
  using small = choose_experts_by_score<arch::gfx942, float, 64>;
  using large = choose_experts_by_score<arch::sm90, bfloat16_t, 256>;
  std::mt19937 random(64);
  expect_scored<large, bfloat16_t>(
      {.experts = 256, .choices = 8, .groups = 8, .kept_groups = 4, .shared = 1, .scale = 2.5f}, 9, random);
  expect_scored<small, float>(
      {.experts = 60, .choices = 6, .score = expert_score::softmax, .has_bias = false, .groups = 10, .kept_groups = 3},
      20, random);
  expect_scored<small, float>(
      {.experts = 64, .choices = 5, .score = expert_score::softmax, .is_normalised = false, .shared = 2}, 70, random);
  expect_scored<small, float>({.experts = 20, .choices = 3, .has_bias = false, .is_normalised = false, .scale = 0.5f},
                              3, random);
  expect_scored<small, float>({.experts = 12, .choices = 4, .groups = 12, .kept_groups = 4}, 5, random);
  // More groups than lanes, of no power of two; more choices than lanes; one group that is not a multiple of a wave.
  expect_scored<choose_experts_by_score<arch::sm90, float, 512, 64>, float>(
      {.experts = 60 * 7, .choices = 40, .groups = 60, .kept_groups = 9, .shared = 3}, 5, random);
  expect_scored<choose_experts_by_score<arch::gfx1201, bfloat16_t, 128>, bfloat16_t>(
      {.experts = 99, .choices = 7, .score = expert_score::softmax, .groups = 3, .kept_groups = 2}, 6, random);
  // Experts of every token without scores.
  expect_scored<choose_experts<arch::sm90, float, 64>, float>(
      {.experts = 32, .choices = 4, .score = expert_score::softmax, .has_bias = false, .shared = 1}, 33, random);
}
TEST(ChooseExperts, OptionsThatItRefuses) {
  using logits = choose_experts<arch::sm90, float, 64>;
  using scores = choose_experts_by_score<arch::sm90, float, 64>;
  alignas(16) float x[64] = {}, weight[16];
  index_t expert[16];
  const auto refusal = [&]<class Kernel>(Kernel, auto change) {
    choose_experts_args<float> args{x, expert, weight, 1, 64, 8, 64};
    change(args);
    const char* const why = Kernel::check(args);
    return std::string(why ? why : "");
  };
  EXPECT_EQ(refusal(logits{}, [](auto&) {}), "");
  EXPECT_EQ(refusal(logits{}, [](auto& a) { a.score = expert_score::sigmoid; }),
            "the kernel compares logits; use choose_experts_by_score");
  EXPECT_EQ(refusal(scores{}, [](auto& a) { a.score = expert_score::sigmoid; }), "");
  EXPECT_EQ(refusal(scores{}, [](auto& a) { a.score = expert_score(2); }), "score is no expert_score");
  EXPECT_EQ(refusal(scores{}, [](auto& a) { a.groups = 3; }), "groups must divide the experts");
  EXPECT_EQ(refusal(scores{}, [](auto& a) { a.groups = 32; }),
            "the groups that are kept have fewer experts than choices");
  EXPECT_EQ(refusal(scores{}, [](auto& a) { a.groups = 32, a.kept_groups = 8; }),
            "there are more groups than the kernel's MostChoices");
  EXPECT_EQ(refusal(scores{}, [](auto& a) { a.groups = 4, a.kept_groups = 5; }), "kept_groups must be 1 to groups");
  EXPECT_EQ(refusal(scores{}, [](auto& a) { a.shared = 9; }),
            "there are more choices and shared experts than the kernel's MostChoices");
}

TEST(OrderByExpert, IsAStableSort) {
  std::mt19937 random(62);
  expect_ordered<arch::gfx942>(1, 1, 1, 0, random);
  expect_ordered<arch::gfx942>(5000, 8, 8, 0, random);
  expect_ordered<arch::sm90>(777, 1000, 1000, 0, random);
  expect_ordered<arch::gfx942, 8>(9000, 3, 3, 0, random);       // several blocks
  expect_ordered<arch::gfx1201>(70001, 300, 600, 200, random);  // a kernel adds up their counts
  expect_ordered<arch::sm90, 256>(70001, 256, 256, 0, random, ~0u);
}

TEST(OrderByExpert, ExpertsTakeTheirFirstEntries) {
  std::mt19937 random(65);
  expect_ordered<arch::gfx942, 8, true>(700, 5, 8, 2, random, 50, 60);
  expect_ordered<arch::sm90, 256, true>(9000, 200, 200, 0, random, ~0u, 40);  // several blocks
}

// Weights are powers of two, so that only sums are rounded.
TEST(ExpertRows, SumsFollowTheOrderOfChoices) {
  using sum = expert_rows<arch::gfx942, float, row_tile{64, 64, 1, 4}, expert_rows_kind::combine>;
  constexpr index_t tokens = 5, choices = 7, cols = 12, experts = 3;
  std::mt19937 random(66);
  matrix<float> x(tokens * choices, cols, 4, random), y(tokens, cols, 4, -7.0f), bias(experts, cols, 4, random);
  std::vector<index_t> position, expert;
  std::vector<float> weight;
  for (float& v : bias.values) v *= 1024;
  for (index_t e = 0; e < tokens * choices; ++e) {
    position.push_back(e % 6 == 1 ? -1 : (e * 11) % (tokens * choices));
    expert.push_back(position.back() < 0 ? -1 : e % experts);
    weight.push_back(0.25f * float(1 << random() % 5u));
  }
  expert_rows_args<float> args{x.data(), y.data(), position.data(), weight.data(), tokens, choices, cols};
  args.x_stride = x.stride, args.y_stride = y.stride, args.bias = bias.data(), args.expert = expert.data();
  args.bias_stride = bias.stride;
  launch<sum>(args, {.check_lds = emulator::lds_checks::on});
  for (index_t t = 0; t < tokens; ++t)
    for (index_t c = 0; c < cols; ++c) {
      float wanted = 0;
      for (auto e = std::size_t(t * choices); e < std::size_t((t + 1) * choices); ++e)
        if (position[e] >= 0) wanted += weight[e] * (x.at(position[e], c) + bias.at(expert[e], c));
      EXPECT_EQ(y.at(t, c), wanted) << t << ", " << c;
    }
}

TEST(ExpertColumnSums, AreOfTheRowsOfEachExpert) {
  using kernel = expert_column_sums<arch::gfx942, half_t, row_tile{64, 64, 1, 8}>;
  std::mt19937 random(67);
  const std::vector<index_t> ends{3, 3, 40}, source = [] {
    std::vector<index_t> s;
    for (index_t i = 0; i < 41; ++i) s.push_back((i * 7) % 41);
    return s;
  }();
  std::vector<float> weight;
  for (index_t i = 0; i < 41; ++i) weight.push_back(float(random() % 64u) / 64);
  matrix<half_t> x(41, 1032, 8, random), y(3, 1032, 8, half_t(-7.0f));
  for (const bool has_weights : {true, false}) {
    launch<kernel>({x.data(), y.data(), ends.data(), source.data(), has_weights ? weight.data() : nullptr, 41, 1032, 3,
                    x.stride, y.stride},
                   {.check_lds = emulator::lds_checks::on});
    EXPECT_TRUE(y.has_clean_gaps(half_t(-7.0f)));
    for (index_t e = 0, begin = 0; e < 3; begin = ends[std::size_t(e++)])
      for (index_t c = 0; c < 1032; ++c) {
        double sum = 0;
        for (index_t r = begin; r < ends[std::size_t(e)]; ++r)
          sum += (has_weights ? double(weight[std::size_t(source[std::size_t(r)])]) : 1) * x(r, c);
        ASSERT_NEAR(y(e, c), sum, 0.02) << e << ", " << c;
      }
  }
}

TEST(ExpertRows, GoToTheirPlacesAndBack) {
  std::mt19937 random(63);
  for (const index_t cols : {8, 1032, 3000}) {
    const index_t tokens = 9, choices = 3, entries = tokens * choices;
    matrix<half_t> x(tokens, cols, 8, random), y(entries, cols, 0, half_t(-7.0f)), back(tokens, cols, 8, half_t(-7.0f));
    std::vector<index_t> source(std::size_t(entries), -1), position = source, order = source;
    std::vector<float> weight;
    for (index_t e = 0; e < entries; ++e) weight.push_back(float(random() % 100u) / 64);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    for (index_t p = 0; p < entries - 5; ++p) {
      source[std::size_t(p)] = order[std::size_t(p)];
      position[std::size_t(order[std::size_t(p)])] = p;
    }
    launch<scatter>({x.data(), y.data(), position.data(), weight.data(), tokens, choices, cols, x.stride, y.stride});
    launch<combine>({y.data(), back.data(), position.data(), nullptr, tokens, choices, cols, y.stride, back.stride});
    EXPECT_TRUE(back.has_clean_gaps(half_t(-7.0f)));
    double worst = 0, worst_back = 0;
    for (index_t c = 0; c < cols; ++c) {
      std::vector<double> sums(std::size_t(tokens), 0.0);
      for (index_t p = 0; p < entries; ++p) {
        const index_t e = source[std::size_t(p)];
        worst = max_error(worst, std::abs(y(p, c) - (e < 0 ? -7 : double(weight[std::size_t(e)]) * x(e / choices, c))));
        if (e >= 0) sums[std::size_t(e / choices)] += y(p, c);
      }
      for (index_t t = 0; t < tokens; ++t)
        worst_back = max_error(worst_back, std::abs(back(t, c) - sums[std::size_t(t)]));
    }
    EXPECT_LE(worst, 0x1p-8);
    EXPECT_LE(worst_back, 0x1p-7);
  }
}

TEST(OrderByExpert, PassesInExploredSchedules) {
  tilewright::testing_schedules::expect_in_explored_schedules([] {
    std::mt19937 random(7);
    expect_chosen<choose, bfloat16_t>(matrix<bfloat16_t>(5, 64, 8, random), 4, true);
    expect_ordered<arch::sm90>(777, 100, 100, 0, random);
  });
}

TEST(Experts, RefuseWhatTheyCannotDo) {
  alignas(16) static bfloat16_t memory[4096];
  static index_t numbers[64];
  static float weights[64];
  const choose_experts_args<bfloat16_t> choice{memory, numbers, weights, 4, 64, 8, 64};
  EXPECT_EQ(choose::check(choice), nullptr);
  const auto refuse = [&](auto args, auto change, const char* words, auto kernel) {
    change(args);
    expect_refusal<decltype(kernel)>(args, words);
  };
  refuse(choice, [](auto& a) { a.tokens = 0; }, "must be positive", choose{});
  refuse(choice, [](auto& a) { a.experts = a.x_stride = 512; }, "more experts than", choose{});
  refuse(choice, [](auto& a) { a.choices = 65; }, "at most the experts", choose{});
  refuse(choice, [](auto& a) { a.choices = 17; }, "MostChoices", choose{});
  refuse(choice, [](auto& a) { a.weight = nullptr; }, "null", choose{});
  refuse(choice, [](auto& a) { ++a.x; }, "aligned", choose{});
  refuse(choice, [](auto& a) { a.tokens = 1 << 27; }, "2^29", choose{});
  refuse(choice, [](auto& a) { a.weight = reinterpret_cast<float*>(numbers + 31); }, "overlaps another", choose{});
  refuse(choice, [](auto& a) { a.expert = reinterpret_cast<index_t*>(memory + 64); }, "overlaps another", choose{});

  static index_t ends[8], source[64], position[64], counts[8];
  const order_by_expert_args order{numbers, ends, source, position, counts, 64, 8};
  using sort = order_by_expert<arch::gfx942>;
  EXPECT_EQ(sort::check(order), nullptr);
  refuse(order, [](auto& a) { a.entries = 0; }, "must be positive", sort{});
  refuse(order, [](auto& a) { a.experts = 1025; }, "more experts than", sort{});
  refuse(order, [](auto& a) { a.ends = nullptr; }, "null", sort{});
  refuse(order, [](auto& a) { a.position = numbers; }, "overlaps another", sort{});
  refuse(order, [](auto& a) { ++reinterpret_cast<char*&>(a.source); }, "not aligned to its elements", sort{});
  refuse(order, [](auto& a) { a.entries = 0x7fffffff; }, "close to 2^31", sort{});

  auto* halves = reinterpret_cast<half_t*>(memory);
  const expert_rows_args<half_t> rows{halves, halves + 2048, numbers, nullptr, 4, 2, 64, 64, 64};
  EXPECT_EQ(scatter::check(rows), nullptr);
  refuse(rows, [](auto& a) { a.choices = 0; }, "must be positive", scatter{});
  refuse(rows, [](auto& a) { a.choices = 1 << 30; }, "close to 2^31", scatter{});
  refuse(rows, [](auto& a) { ++a.y; }, "aligned", scatter{});
  refuse(rows, [&](auto& a) { a.y = halves + 64; }, "overlaps another", scatter{});
  refuse(rows, [&](auto& a) { a.position = reinterpret_cast<index_t*>(halves + 2048); }, "overlaps another", scatter{});
  refuse(rows, [](auto& a) { a.position = nullptr; }, "null", scatter{});
}

}  // namespace rows_test
