// SPDX-License-Identifier: MIT
#include "check_attention_forward.hpp"

namespace attention_test {

namespace {

struct cdna2 : attention_policy<arch::gfx90a, half_t, 160, 256> {};
struct cdna3 : attention_policy<arch::gfx942, half_t, 64> {};
struct cdna4 : attention_policy<arch::gfx950, bfloat16_t, 128> {};
struct rdna3 : attention_policy<arch::gfx1100, half_t, 128> {};
struct rdna4 : attention_policy<arch::gfx1201, bfloat16_t, 96> {};
struct cdna3_fp8 : attention_policy<arch::gfx942, fp8_fnuz_t, 96> {};
struct cdna4_fp8 : attention_policy<arch::gfx950, fp8_ocp_t, 128> {};
struct cdna3_ping_pong
    : attention_policy<arch::gfx942, half_t, 64, 64, attention_tile{256, 64, 8, false, attention_tile::ping_pong}> {};
struct cdna4_ping_pong : attention_policy<arch::gfx950, bfloat16_t, 128, 64,
                                          attention_tile{256, 64, 8, false, attention_tile::ping_pong, true}> {};
template <class Policy>
struct masked : Policy {
  static constexpr bool has_block_mask = true;
};
struct hopper : attention_policy<arch::sm90, half_t, 192, 128> {};
struct cdna3_wide : attention_policy<arch::gfx942, half_t, 512> {};
struct rdna3_without_rows_in_flight : attention_policy<arch::gfx1100, half_t, 256> {};
struct rdna3_wide : attention_policy<arch::gfx1100, bfloat16_t, 384, 512> {};
struct rdna4_fp8_wide : attention_policy<arch::gfx1201, fp8_ocp_t, 512, 384> {};
struct hopper_wide : attention_policy<arch::sm90, bfloat16_t, 512> {};
struct hopper_32_rows : attention_policy<arch::sm90, half_t, 64, 64, attention_tile{128, 32, 4, true}> {};

}  // namespace

TEST(AttentionForward, WholeTilesWithoutMask) { expect_attention<cdna3>(with(1, 1, {128}, {128})); }

TEST(AttentionForward, MasksAreAlignedAtTheEnds) {
  expect_attention<cdna3>(with(1, 1, {150}, {150}, causal));
  expect_attention<cdna3>(with(1, 1, {40}, {200}, causal));
  expect_attention<cdna3>(with(1, 1, {200}, {40}, causal));  // 160 rows see nothing
  expect_attention<cdna3>(with(1, 1, {300}, {300}, {64, 0}));
  expect_attention<cdna3>(with(1, 1, {100}, {300}, {.left = 10, .right = 200}));
}

TEST(AttentionForward, TheWidestWindowsHideNothing) {
  constexpr index_t most = 0x7fffffff;
  expect_attention<cdna3>(with(1, 1, {40}, {40}, {.left = -1, .right = most}));
  expect_attention<cdna3>(with(1, 1, {80}, {40}, {.left = most, .right = -1}));
  expect_attention<cdna3>(with(1, 1, {40}, {80}, {.left = most, .right = most}));
}

// Offsets of rows rise from step to step, and what has been added up is brought to them.
TEST(AttentionForward, LaterStepsHaveLargerScores) {
  problem p = with(2, 1, {40}, {400});
  p.has_growing_keys = true;
  expect_attention<cdna3>(p);
  expect_attention<cdna3_ping_pong>(p);
  expect_attention<cdna4_fp8>(p);
}

TEST(AttentionForward, WithoutKeysRowsAreZero) { expect_attention<cdna3>(with(2, 1, {5, 7}, {0, 9}, {}, true)); }

TEST(AttentionForward, Cdna2) { expect_random_problems<cdna2>(4, 2); }
TEST(AttentionForward, Cdna3) { expect_random_problems<cdna3>(12, 3); }
TEST(AttentionForward, Cdna4) { expect_random_problems<cdna4>(6, 4); }
TEST(AttentionForward, Rdna3) { expect_random_problems<rdna3>(6, 5); }
TEST(AttentionForward, Rdna4) { expect_random_problems<rdna4>(6, 6); }
TEST(AttentionForward, Cdna3Fp8) { expect_random_problems<cdna3_fp8>(4, 9); }
TEST(AttentionForward, Cdna4Fp8) { expect_random_problems<cdna4_fp8>(3, 10); }
TEST(AttentionForward, Cdna3PingPong) { expect_random_problems<cdna3_ping_pong>(3, 11); }
TEST(AttentionForward, Cdna4PingPongWithDirectCopies) { expect_random_problems<cdna4_ping_pong>(3, 12); }
TEST(AttentionForward, Hopper) { expect_random_problems<hopper>(4, 7); }
TEST(AttentionForward, WideHeads) {
  expect_random_problems<cdna3_wide>(2, 17);
  expect_random_problems<rdna3_wide>(2, 18);
  expect_random_problems<rdna4_fp8_wide>(2, 19);
  expect_random_problems<hopper_wide>(2, 20);
}
TEST(AttentionForward, HopperWithQueriesInLds) { expect_random_problems<hopper_32_rows>(3, 8); }

namespace {
struct slope_args : attention_args {
  float slope = 0, cap = 0;
};
struct alibi_and_cap {
  TILEWRIGHT_HD float operator()(float s, const score_position& at, const slope_args& args) const {
    const float capped = args.cap * exec::tanh(s / args.cap);
    return capped + args.slope * float(at.key - at.query) * float(1 + at.head);
  }
};
struct with_bias : attention_policy<arch::gfx942, half_t, 64> {
  using score_function = alibi_and_cap;
  using args_type = slope_args;
};
}  // namespace

TEST(AttentionForward, ScoreFunctionOfTheUser) {
  slope_args args;
  args.slope = 0.05f;
  args.cap = 3;
  expect_random_problems<with_bias>(2, 13, args);
}

TEST(AttentionForward, BlockMasks) {
  expect_random_problems<masked<cdna3>>(6, 14);
  expect_random_problems<masked<rdna3_without_rows_in_flight>>(2, 15);
  expect_random_problems<masked<hopper_32_rows>>(4, 16);
}
TEST(AttentionForward, SkipsTilesThatABlockMaskHides) {
  expect_hidden_tiles_are_skipped<masked<cdna3>>(100, 128);
  expect_hidden_tiles_are_skipped<masked<rdna3_without_rows_in_flight>>(40, 64);
  expect_hidden_tiles_are_skipped<masked<hopper_32_rows>>(200, 128);
}

TEST(AttentionForward, RefusesBlockMasksThatDoNotFit) {
  using kernel = attention_forward<masked<cdna3>>;
  alignas(16) half_t memory[128];
  const unsigned bits[1]{};
  attention_args good;
  good.q = good.k = good.v = memory;
  good.o = memory + 64;
  good.queries = 1;
  good.keys = 4096;
  good.q_strides = good.k_strides = good.v_strides = good.o_strides = {64, 64, 64};
  good.block_mask = {.queries = 64, .keys = 128, .bits = bits, .strides = {0, 0, 1}};
  ASSERT_EQ(kernel::check(good), nullptr);
  EXPECT_REFUSAL(good, (a.block_mask.bits = nullptr), "block_mask.bits is null");
  EXPECT_REFUSAL(good, (a.block_mask.queries = 96), "powers of two from 16");
  EXPECT_REFUSAL(good, (a.block_mask.keys = 8), "powers of two from 16");
  EXPECT_REFUSAL(good, (a.block_mask.keys = 1 << 21), "powers of two from 16");
  EXPECT_REFUSAL(good, (a.block_mask.keys = 64), "fewer words");
  EXPECT_NE(std::string(attention_forward<cdna3>::check(good)).find("takes no block mask"), std::string::npos);
}

TEST(AttentionForward, RefusesWhatItCannotDo) {
  using kernel = attention_forward<cdna3>;
  alignas(16) half_t memory[128];
  attention_args good;
  good.q = good.k = good.v = memory;
  good.o = memory + 64;
  good.queries = good.keys = 1;
  good.q_strides = good.k_strides = good.v_strides = good.o_strides = {64, 64, 64};
  ASSERT_EQ(kernel::check(good), nullptr);
  EXPECT_REFUSAL(good, (a.queries = 0), "must be positive");
  EXPECT_REFUSAL(good, (a.keys = -1), "must not be negative");
  EXPECT_REFUSAL(good, (a.heads = 3, a.kv_heads = 2), "multiple of kv_heads");
  EXPECT_REFUSAL(good, (a.batch = 65536), "more than 65535");
  EXPECT_REFUSAL(good, (a.scale = 0), "scale must be positive");
  EXPECT_REFUSAL(good, (a.scale = NAN), "scale must be positive");
  EXPECT_REFUSAL(good, (a.scale = 3e38f), "scale must be less than 2^127");
  EXPECT_REFUSAL(good, (a.scale = INFINITY), "scale must be less than 2^127");
  EXPECT_REFUSAL(good, (a.scale = 0x1.fffffep126f), "accepted");
  EXPECT_REFUSAL(good, (a.v = nullptr), "a pointer is null");
  EXPECT_REFUSAL(good, (a.keys = 0, a.k = a.v = nullptr), "accepted");
  EXPECT_REFUSAL(good, (a.k = memory + 1), "aligned to 16 bytes");
  EXPECT_REFUSAL(good, (a.o_strides.head = 4), "multiples of 8");
  EXPECT_REFUSAL(good, (a.heads = 2, a.o_strides.head = 0), "in the same memory");
  EXPECT_REFUSAL(good, (a.heads = 2, a.queries = 2), "in the same memory");
  EXPECT_REFUSAL(good, (a.heads = 2, a.queries = 2, a.o_strides.head = 128), "accepted");
  EXPECT_REFUSAL(good, (a.heads = 2, a.queries = 2, a.o_strides.row = 128), "accepted");
  EXPECT_REFUSAL(good, (a.heads = 2, a.queries = 3, a.o_strides.row = 128, a.o_strides.head = -256), "same memory");
  const index_t starts[] = {0, 1, 2};
  EXPECT_REFUSAL(good, (a.batch = a.queries = 2, a.query_starts = starts), "accepted");
  EXPECT_REFUSAL(good, (a.heads = a.batch = 2, a.queries = 9, a.query_starts = starts), "in the same memory");
  EXPECT_REFUSAL(good, (a.heads = a.batch = 2, a.queries = 9, a.query_starts = starts, a.o_strides.head = 128),
                 "accepted");
  EXPECT_REFUSAL(good, (a.batch = 2, a.o_strides.batch = 0), "in the same memory");
  EXPECT_REFUSAL(good, (a.o = memory), "other blocks still read");
  EXPECT_REFUSAL(good, (a.batch = 2, a.k_strides.batch = 0), "accepted");
  EXPECT_REFUSAL(good, (a.q_strides.row = 56), "smaller than the head dimension");
  EXPECT_REFUSAL(good, (a.batch = 65536), "more than 65535 heads or sequences; use several launches");
  EXPECT_REFUSAL(good, (a.queries = 0x7fffffff), "close to 2^31");
  EXPECT_REFUSAL(good, (a.queries = a.keys = 0x44000000), "close to 2^31");
  const float one = 1;
  EXPECT_REFUSAL(good, (a.v_scales = &one), "for 8-bit elements");
}

}  // namespace attention_test
