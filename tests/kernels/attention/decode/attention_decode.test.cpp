// SPDX-License-Identifier: MIT
#include "../../explored.hpp"
#include "check_attention_decode.hpp"

namespace attention_test {

namespace {

struct cdna3_decode : attention_decode_policy<arch::gfx942, half_t, 64, 128, 2> {};
struct rdna3_decode : attention_decode_policy<arch::gfx1100, bfloat16_t, 96> {};

struct cdna3_wide : attention_decode_policy<arch::gfx942, half_t, 512> {};
struct rdna4_wide : attention_decode_policy<arch::gfx1201, bfloat16_t, 512> {};
struct hopper_wide : attention_decode_policy<arch::sm90, bfloat16_t, 512> {};
struct hopper_int8_wide : attention_decode_policy<arch::sm90, half_t, 96, 384, 2, int8_t> {};

struct ampere_e4m3 : attention_decode_policy<arch::sm80, bfloat16_t, 64, 96, 4, fp8_ocp_t> {};
struct hopper_int8 : attention_decode_policy<arch::sm90, half_t, 128, 128, 2, int8_t> {};
struct cdna3_e4m3 : attention_decode_policy<arch::gfx942, half_t, 160, 64, 2, fp8_fnuz_t> {};
struct rdna4_int8 : attention_decode_policy<arch::gfx1201, bfloat16_t, 64, 64, 2, int8_t> {};

struct slope_decode_args : attention_decode_args {
  float slope = 0;
};
struct alibi {
  TILEWRIGHT_HD float operator()(float s, const score_position& at, const slope_decode_args& args) const {
    return s + args.slope * float(at.key - at.query) * float(1 + at.head);
  }
};
struct hopper_decode : attention_decode_policy<arch::sm90, half_t, 128> {
  using score_function = alibi;
  using args_type = slope_decode_args;
};

/// Random lengths, heads, pages, windows and splits: each case is another combination.
template <class Policy>
void expect_random_caches(int cases, unsigned seed, typename Policy::args_type args = {}) {
  for_random_cases(cases, seed, [&](std::mt19937& random) {
    const auto up_to = [&](index_t n) { return index_t(random() % unsigned(n)); };
    decode_problem p;
    p.kv_heads = 1 + up_to(2);
    p.heads = p.kv_heads * (1 + up_to(5));
    p.queries = 1 + up_to(2) * up_to(7);
    for (index_t b = 1 + up_to(3); b-- > 0;) p.keys.push_back(1 + up_to(400));
    p.rows_per_page = up_to(3) * 16;
    if (up_to(3) == 0)
      p.shares = 1 + up_to(7);
    else
      p.splits = 1 + up_to(2) * up_to(9);
    if (up_to(3) == 0) p.window = causal;
    if (up_to(4) == 0) p.window.left = up_to(90);
    p.gap = 16 * up_to(2);
    p.has_sinks = up_to(3) == 0;
    p.scales = scales_of(up_to(4));
    for (std::size_t b = 0; p.queries > 1 && b < p.keys.size(); ++b)
      p.own_queries.push_back(b == 0 ? p.queries : up_to(p.queries + 1));
    p.seed = random();
    expect_decode<Policy>(p, args);
  });
}

}  // namespace

TEST(AttentionDecode, Cdna3) { expect_random_caches<cdna3_decode>(10, 1); }
TEST(AttentionDecode, Rdna3) { expect_random_caches<rdna3_decode>(6, 2); }
// Beyond 256 columns of V a block of 32 lanes has a half of them.
TEST(AttentionDecode, WideHeads) {
  expect_random_caches<cdna3_wide>(2, 8);
  expect_random_caches<rdna4_wide>(3, 9);
  expect_random_caches<hopper_wide>(3, 10);
  expect_random_caches<hopper_int8_wide>(2, 11);
}
TEST(AttentionDecode, HopperWithScoreFunction) {
  slope_decode_args args;
  args.slope = 0.01f;
  expect_random_caches<hopper_decode>(10, 3, args);
}

TEST(AttentionDecode, PassesInExploredSchedules) {
  decode_problem p;
  p.heads = 4, p.kv_heads = 2;
  p.keys = {150, 40};
  p.splits = 2;
  tilewright::testing_schedules::expect_in_explored_schedules([&] { expect_decode<hopper_decode>(p); });
  tilewright::testing_schedules::expect_in_explored_schedules([&] { expect_decode<hopper_int8>(p); });
}

TEST(AttentionDecode, AmpereE4m3) { expect_random_caches<ampere_e4m3>(8, 4); }
TEST(AttentionDecode, HopperInt8) { expect_random_caches<hopper_int8>(8, 5); }
TEST(AttentionDecode, Cdna3E4m3) { expect_random_caches<cdna3_e4m3>(6, 6); }
TEST(AttentionDecode, Rdna4Int8) { expect_random_caches<rdna4_int8>(6, 7); }

// NVIDIA GPUs multiply 8-bit elements as half_t, which has neither these scales nor these queries.
TEST(AttentionDecode, ScalesAndQueriesBeyondTheRangeOfHalf) {
  decode_problem p;
  p.heads = 3;
  p.keys = {190, 70};
  p.scales = scales_of::token;
  p.scale_octaves = 40;
  expect_decode<hopper_int8>(p);
  for (const float size : {0x1p40f, 0x1p-60f}) {
    p.query_size = size;
    expect_decode<ampere_e4m3>(p);
  }
}

TEST(AttentionDecode, EmptyCachesAndRowsThatSeeNothing) {
  decode_problem p;
  p.heads = 4;
  p.queries = 6;
  p.keys = {0, 3, 40};
  p.window = causal;  // three queries of the second sequence come before its keys
  p.splits = 2;
  expect_decode<cdna3_decode>(p);
}

TEST(AttentionDecode, SplitsKeepTheGpuBusy) {
  attention_decode_args args;
  args.heads = 32;
  args.kv_heads = 8;
  args.queries = 1;
  args.keys = 8192;
  const index_t splits = args.choose_splits(400);
  EXPECT_GE(splits, 27);
  EXPECT_LE(splits, 32);  // at least 256 keys each
  args.batch = 16;
  EXPECT_EQ(args.choose_splits(400), 3);
  EXPECT_EQ(args.choose_splits(0), 1) << "jit::compiler::SMs() where there is no GPU";
  args.keys = 100;
  EXPECT_EQ(args.choose_splits(400), 1);
  EXPECT_EQ(args.choose_shares(400), 16) << "a share of fewer than 256 keys is not worth a block";
  args.keys = 8192;
  EXPECT_EQ(args.choose_shares(400), 2 * 400 / 8);
  args.batch = 300;
  EXPECT_EQ(args.choose_shares(400), 2 * 400 / 8) << "fewer than sequences";
  EXPECT_EQ(args.choose_shares(0), 1);
  args.shares = 200;
  EXPECT_EQ(workspace_bytes(args, 128), (500 * 32 * 129 + 2 * 300) * 4);
  args.batch = 16, args.shares = 0;
  args.splits = 3;
  EXPECT_EQ(workspace_bytes(args, 128), 16 * 32 * 4 * 129 * 4 + 16 * 8);
}

TEST(AttentionDecode, RefusesWhatItCannotDo) {
  using kernel = attention_decode<cdna3_decode>;
  alignas(16) half_t memory[256];
  alignas(16) float workspace[8] = {};
  const index_t number = 0;
  attention_decode_args good;
  good.q = good.k = good.v = memory;
  good.o = memory + 128;
  good.queries = good.keys = 1;
  good.q_strides = good.k_strides = good.v_strides = good.o_strides = {128, 128, 128};
  ASSERT_EQ(kernel::check(good), nullptr);
  EXPECT_REFUSAL(good, (a.queries = 0), "must be positive");
  EXPECT_REFUSAL(good, (a.k_scales = a.v_scales = workspace), "8-bit elements");
  EXPECT_REFUSAL(good, (a.key_starts = a.key_counts = &number), "either");
  EXPECT_REFUSAL(good, (a.block_table = &number, a.rows_per_page = 24), "multiple of 16");
  EXPECT_REFUSAL(good, (a.block_table = &number, a.rows_per_page = 16), "table_stride");
  EXPECT_REFUSAL(good, (a.splits = 2), "workspace");
  EXPECT_REFUSAL(good, (a.shares = 1), "workspace");
  EXPECT_REFUSAL(good, (a.shares = -1), "shares must be 0");
  EXPECT_REFUSAL(good, (a.shares = 1, a.workspace = workspace), "accepted");
  EXPECT_REFUSAL(good, (a.splits = 1024), "workspace");
  EXPECT_REFUSAL(good, (a.splits = 1025), "1 to 1024");
  EXPECT_REFUSAL(good, (a.splits = 2, a.workspace = workspace), "accepted");
  EXPECT_REFUSAL(good, (a.splits = 2, a.workspace = workspace + 1), "aligned to 16 bytes");
  EXPECT_REFUSAL(good, (a.q_strides.head = 1 << 30), "2 GiB");
  EXPECT_REFUSAL(good, (a.o_strides.batch = -128), "negative");
  EXPECT_REFUSAL(good, (a.lse = workspace, a.lse_strides = {1, -1, 1}), "negative");
  EXPECT_REFUSAL(good, (a.k_strides.batch = -128), "accepted");
}

}  // namespace attention_test
