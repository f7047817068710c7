// SPDX-License-Identifier: MIT
#include <tilewright/kernels/attention/forward/hopper_attention.hpp>

#include "../../explored.hpp"
#include "check_attention_forward.hpp"

#include <cstring>

namespace attention_test {

namespace {

struct three_consumers : hopper_attention_policy<half_t, 64> {};
struct wide_keys : hopper_attention_policy<bfloat16_t, 192, 128> {};
struct one_consumer : hopper_attention_policy<half_t, 96, 96, hopper_attention_tile{64, 80, 3}> {};
static_assert(!three_consumers::lds.o_replaces_q());
/// The transpose of V has two boxes, the second one not full.
struct eight_bits : hopper_attention_policy<fp8_ocp_t, 64, 96, hopper_attention_tile{128, 160, 2, false}> {
  using result_type = half_t;
};

struct slope_args : attention_args {
  float slope = 0;
};
struct alibi {
  TILEWRIGHT_HD float operator()(float s, const score_position& at, const slope_args& args) const {
    return s + args.slope * float(at.key - at.query) * float(1 + at.head);
  }
};
/// O is written where Q was.
struct with_bias : hopper_attention_policy<bfloat16_t, 128, 128, hopper_attention_tile{128, 176}> {
  using score_function = alibi;
  using args_type = slope_args;
};
static_assert(with_bias::lds.o_replaces_q());
/// Blocks compute a half of the columns of O.
struct wide_heads : hopper_attention_policy<bfloat16_t, 512> {};
struct wide_values : hopper_attention_policy<half_t, 64, 384, hopper_attention_tile{64, 64, 2, false}> {};
struct wide_eight_bits : hopper_attention_policy<fp8_ocp_t, 384, 512> {};

}  // namespace

TEST(SpecializedAttention, OneStepAndManyWithoutMask) {
  expect_attention<three_consumers>(with(1, 1, {192}, {128}));
  expect_attention<three_consumers>(with(2, 1, {300}, {500}));
}

TEST(SpecializedAttention, MasksAreAlignedAtTheEnds) {
  expect_attention<three_consumers>(with(1, 1, {300}, {300}, causal));
  expect_attention<three_consumers>(with(1, 1, {40}, {200}, causal));
  expect_attention<three_consumers>(with(1, 1, {400}, {40}, causal));  // 360 rows see nothing
  expect_attention<three_consumers>(with(1, 1, {300}, {500}, {64, 0}));
  expect_attention<three_consumers>(with(1, 1, {100}, {300}, {.left = 10, .right = 200}));
}

// What comes after a sequence may be no numbers, and must not be multiplied by zero either.
TEST(SpecializedAttention, PackedSequencesEndWhereTheyEnd) {
  const auto run = [](const attention_args& args, std::vector<memory> allocations) {
    std::vector<half_t> v(allocations[2].bytes / sizeof(half_t) + 200 * std::size_t(args.v_strides.row),
                          half_t(std::numeric_limits<float>::quiet_NaN()));
    std::memcpy(v.data(), allocations[2].data, allocations[2].bytes);
    attention_args changed = args;
    changed.v = v.data();
    allocations[2] = memory_of(v);
    launch_options options{.check_lds = emulator::lds_checks::on};
    for (const memory& m : allocations) options.memory.push_back({m.data, long_index_t(m.bytes)});
    launch<attention_forward<three_consumers>>(changed, options);
  };
  expect_attention_by<three_consumers>(run, with(2, 1, {5, 70, 3}, {0, 9, 130}, {}, true));
  expect_attention<one_consumer>(with(1, 1, {5, 7}, {0, 0}, {}, true));
}

// Consumers skip steps of keys that their rows do not see: two of them the first one.
TEST(SpecializedAttention, PassesInExploredSchedules) {
  tilewright::testing_schedules::expect_in_explored_schedules(
      [] { expect_attention<three_consumers>(with(1, 1, {192}, {384}, {.left = 100, .right = 0})); });
  tilewright::testing_schedules::expect_in_explored_schedules(
      [] { expect_attention<eight_bits>(with(1, 1, {128}, {200})); });
}

// Blocks go on to the next rows; the last ones see most keys and come first.
TEST(SpecializedAttention, FewBlocksTakeAllUnits) {
  problem p = with(2, 2, {200}, {200}, causal);
  expect_attention_by<one_consumer>(
      [](const auto& a, const auto&) {
        launch<attention_forward<one_consumer>>(
            a, {.workers = 1, .resident_clusters = 3, .check_lds = emulator::lds_checks::on});
      },
      p);
}

// The first consumer's rows skip steps of each unit, after which their stages are filled for the next one.
TEST(SpecializedAttention, StepsAreSkippedBetweenUnits) {
  expect_attention_by<three_consumers>(
      [](const auto& a, const auto&) {
        launch<attention_forward<three_consumers>>(a, {.workers = 1, .resident_clusters = 1});
      },
      with(1, 1, {400}, {400}, causal));
}

TEST(SpecializedAttention, LaterStepsHaveLargerScores) {
  problem p = with(2, 1, {40}, {400});
  p.has_growing_keys = true;
  expect_attention<three_consumers>(p);
  expect_attention<eight_bits>(p);
}

TEST(SpecializedAttention, ThreeConsumers) { expect_random_problems<three_consumers>(8, 21); }
TEST(SpecializedAttention, OneConsumer) { expect_random_problems<one_consumer>(6, 22); }
TEST(SpecializedAttention, WideKeys) { expect_random_problems<wide_keys>(4, 23); }

TEST(SpecializedAttention, EightBits) { expect_random_problems<eight_bits>(6, 24); }

TEST(SpecializedAttention, WideHeads) {
  expect_random_problems<wide_heads>(2, 28);
  expect_random_problems<wide_values>(3, 29);
  expect_random_problems<wide_eight_bits>(2, 30);
}

TEST(SpecializedAttention, ScoreFunctionOfTheUser) {
  slope_args args;
  args.slope = 0.05f;
  expect_attention<with_bias>(with(2, 2, {150}, {230}, causal), args);
  expect_attention<with_bias>(with(2, 1, {150, 20}, {500, 100}, {}, true), args);
}

namespace {
template <class Policy>
struct masked : Policy {
  static constexpr bool has_block_mask = true;
};
}  // namespace

TEST(SpecializedAttention, BlockMasks) {
  expect_random_problems<masked<three_consumers>>(6, 25);
  expect_random_problems<masked<one_consumer>>(4, 26);
  expect_random_problems<masked<eight_bits>>(3, 27);
}
TEST(SpecializedAttention, SkipsTilesThatABlockMaskHides) {
  expect_hidden_tiles_are_skipped<masked<three_consumers>>(300, 128);
}
TEST(SpecializedAttention, BlockMasksPassInExploredSchedules) {
  problem p = with(1, 1, {250}, {700}, {.left = 600, .right = 30});
  p.mask_queries = p.mask_keys = 64;
  tilewright::testing_schedules::expect_in_explored_schedules([&] { expect_attention<masked<three_consumers>>(p); });
}

TEST(SpecializedAttention, RefusesWhatBulkCopiesCannotDo) {
  alignas(16) half_t memory[128];
  attention_args args;
  args.q = args.k = args.v = memory;
  args.o = memory + 64;
  args.queries = args.keys = 1;
  args.q_strides = args.k_strides = args.v_strides = args.o_strides = {64, 64, 64};
  EXPECT_EQ(attention_forward<three_consumers>::check(args), nullptr);
  args.k_strides.head = -64;
  EXPECT_NE(std::string(attention_forward<three_consumers>::check(args)).find("not negative"), std::string::npos);
  args.k_strides.head = 64;
  const index_t starts[] = {0, 1};
  args.key_starts = starts;
  args.keys = (1 << 30) - 1;
  EXPECT_EQ(attention_forward<three_consumers>::check(args), nullptr);
  ++args.keys;
  EXPECT_NE(std::string(attention_forward<three_consumers>::check(args)).find("2^30"), std::string::npos);
}

}  // namespace attention_test
