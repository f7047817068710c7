// SPDX-License-Identifier: MIT
#include <tilewright/kernels/attention/decode/hopper_latent_decode.hpp>

#include "../../explored.hpp"
#include "check_attention_decode.hpp"

#include <cstring>

namespace attention_test {

namespace {

struct latent : hopper_latent_policy<bfloat16_t> {};
struct narrow_latent : hopper_latent_policy<half_t, 192, 128> {};
struct narrow_tokens : hopper_latent_policy<half_t, 192, 128> {
  static constexpr bool has_token_lists = true;
};
struct tokens : hopper_latent_policy<bfloat16_t> {
  static constexpr bool has_token_lists = true;
};
struct latent_e4m3 : hopper_latent_policy<bfloat16_t, 576, 512, fp8_ocp_t> {};
struct narrow_int8 : hopper_latent_policy<bfloat16_t, 192, 128, int8_t> {};
struct narrow_e4m3_tokens : hopper_latent_policy<half_t, 192, 128, fp8_ocp_t> {
  static constexpr bool has_token_lists = true;
};
/// Rows of 656 bytes: 512 of e4m3, four scales, 64 columns of bfloat16_t.
struct mixed_rows : hopper_latent_policy<bfloat16_t, 576, 512, fp8_ocp_t> {
  static constexpr index_t columns_of_scale = 128;
  static constexpr bool has_16_bit_rope = true;
};
struct values_alone : hopper_latent_policy<half_t, 128, 128> {};
struct portable_latent : attention_decode_policy<arch::gfx942, half_t, 576, 512> {};

decode_problem random_latent(std::mt19937& random) {
  const auto up_to = [&](index_t n) { return index_t(random() % unsigned(n)); };
  decode_problem p;
  p.is_latent = true;
  p.heads = 1 + up_to(100);
  p.kv_heads = 1;
  p.queries = 1 + up_to(2);
  for (index_t b = 1 + up_to(3); b-- > 0;) p.keys.push_back(up_to(5) == 0 ? 0 : 1 + up_to(300));
  p.keys[0] = 1 + up_to(200);
  for (std::size_t b = 0; up_to(2) == 0 && b < p.keys.size(); ++b)
    p.own_queries.push_back(b == 0 ? p.queries : up_to(p.queries + 1));
  p.own_queries.resize(p.own_queries.empty() ? 0 : p.keys.size(), 1);
  p.rows_per_page = std::array{0, 16, 32, 64, 128}[std::size_t(up_to(5))];
  p.splits = 1 + up_to(2) * up_to(5);
  if (p.splits == 1 && up_to(2) == 0) p.shares = 1 + up_to(5);
  if (up_to(3) == 0) p.window = causal;
  if (up_to(4) == 0) p.window.left = up_to(90);
  p.gap = 16 * up_to(2);
  p.scales = scales_of(up_to(4));
  p.has_sinks = up_to(2) == 0;
  p.seed = random();
  return p;
}
template <class Policy>
void expect_random_latents(int cases, unsigned seed) {
  for_random_cases(cases, seed, [](std::mt19937& random) {
    decode_problem p = random_latent(random);
    if constexpr (requires { requires Policy::has_token_lists; }) p.rows_per_page = 1;
    expect_decode<Policy>(p);
  });
}

}  // namespace

TEST(LatentDecode, Hopper) { expect_random_latents<latent>(2, 1); }
TEST(LatentDecode, HopperNarrow) { expect_random_latents<narrow_latent>(6, 2); }
TEST(LatentDecode, HopperWithoutOtherColumns) { expect_random_latents<values_alone>(4, 4); }
TEST(LatentDecode, Portable) { expect_random_latents<portable_latent>(1, 3); }

// Rows of the cache in the order of a list for each sequence.
TEST(LatentDecode, TokenLists) {
  expect_random_latents<narrow_tokens>(3, 5);
  expect_random_latents<tokens>(1, 6);
}

TEST(LatentDecode, EightBits) {
  expect_random_latents<latent_e4m3>(2, 7);
  expect_random_latents<narrow_int8>(4, 8);
  expect_random_latents<narrow_e4m3_tokens>(3, 9);
}

// As from a cache of the elements that the rows mean; S is added up in another order.
TEST(LatentDecode, EightBitsWithScalesOfColumnsAnd16BitRope) {
  constexpr index_t pages = 5, rows = 32, row_bytes = 656, heads = 70, batch = 2;
  std::mt19937 random(10);
  std::normal_distribution<float> gaussian;
  std::vector<char> cache(std::size_t(pages * rows * row_bytes));
  std::vector<bfloat16_t> meant(std::size_t(pages * rows * 576));
  for (index_t r = 0; r < pages * rows; ++r) {
    char* const row = cache.data() + r * row_bytes;
    for (index_t c = 0; c < 576; ++c) {
      bfloat16_t& x = meant[std::size_t(r * 576 + c)];
      if (c < 512) {
        const float scale = 0.5f + 0.25f * float((r + c / 128) % 5);
        std::memcpy(row + 512 + 4 * (c / 128), &scale, 4);
        const fp8_ocp_t e = type_convert<fp8_ocp_t>(gaussian(random));
        std::memcpy(row + c, &e, 1);
        x = bfloat16_t(float(e) * scale);
      } else {
        x = bfloat16_t(gaussian(random));
        std::memcpy(row + 528 + 2 * (c - 512), &x, 2);
      }
    }
  }
  const std::vector<bfloat16_t> q = gaussian_values<bfloat16_t>(std::size_t(batch * heads * 576), random);
  const index_t table[] = {4, 0, 2, 3, 1, 1}, counts[] = {90, 33};
  std::vector<bfloat16_t> results[2];
  for (int i = 0; i < 2; ++i) {
    results[i].assign(std::size_t(batch * heads * 512), bfloat16_t(NAN));
    attention_decode_args a;
    a.q = q.data(), a.o = results[i].data();
    a.batch = batch, a.heads = heads, a.queries = 1, a.keys = 96;
    a.q_strides = {heads * 576, 576, heads * 576}, a.o_strides = {heads * 512, 512, heads * 512};
    a.scale = 0.05f;
    a.block_table = table, a.table_stride = 3, a.rows_per_page = rows, a.key_counts = counts;
    if (i == 0) {
      a.k = a.v = meant.data();
      a.k_strides = a.v_strides = {rows * 576, 576, 576};
      launch<attention_decode<latent>>(a);
    } else {
      a.k = a.v = cache.data();
      a.k_strides = a.v_strides = {rows * row_bytes, row_bytes, row_bytes};
      a.k_scales = a.v_scales = reinterpret_cast<const float*>(cache.data() + 512);
      a.k_scale_strides = a.v_scale_strides = {rows * row_bytes / 4, 0, row_bytes / 4};
      a.k_rope = cache.data() + 528;
      a.k_rope_strides = {rows * row_bytes / 2, row_bytes / 2, row_bytes / 2};
      launch<attention_decode<mixed_rows>>(a, {.check_lds = emulator::lds_checks::on});
      a.k_rope = nullptr;
      EXPECT_NE(std::string(attention_decode<mixed_rows>::check(a)).find("k_rope is null"), std::string::npos);
    }
  }
  for (std::size_t i = 0; i < results[0].size(); ++i) {
    const float x = float(results[0][i]);
    EXPECT_NEAR(float(results[1][i]), x, 0x1p-7f * std::abs(x) + 0x1p-12f);
  }
}

TEST(LatentDecode, PassesInExploredSchedules) {
  decode_problem p;
  p.is_latent = true;
  p.heads = 3;
  p.keys = {150, 40};
  p.splits = 2;
  tilewright::testing_schedules::expect_in_explored_schedules([&] { expect_decode<narrow_latent>(p); });
  p.rows_per_page = 1;
  tilewright::testing_schedules::expect_in_explored_schedules([&] { expect_decode<narrow_tokens>(p); });
  tilewright::testing_schedules::expect_in_explored_schedules([&] { expect_decode<narrow_e4m3_tokens>(p); });
}

// Of six shares of 13 steps one has the last step of the first sequence and the first of the second one.
TEST(LatentDecode, PiecesOfTwoSequences) {
  decode_problem p;
  p.is_latent = true;
  p.heads = 3;
  p.keys = {150, 40};
  p.splits = 3;
  expect_decode<narrow_latent>(p);
  p.rows_per_page = 16;  // a share's first tile is not full
  expect_decode<narrow_latent>(p);
}

TEST(LatentDecode, SinksOfHeadsAndScalesOfTokens) {
  decode_problem p;
  p.is_latent = true;
  p.heads = 5;
  p.keys = {70, 33};
  p.has_sinks = true;
  expect_decode<narrow_latent>(p);
  p.rows_per_page = 32;
  p.scales = scales_of::token;
  expect_decode<narrow_int8>(p);
}

// 8-bit elements are multiplied as half_t, which has neither these scales nor these queries.
TEST(LatentDecode, ScalesAndQueriesBeyondTheRangeOfHalf) {
  decode_problem p;
  p.is_latent = true;
  p.heads = 3;
  p.keys = {190, 70};
  p.scales = scales_of::token;
  p.scale_octaves = 40;
  for (const float size : {0x1p40f, 0x1p-60f}) {
    p.query_size = size;
    expect_decode<narrow_int8>(p);
  }
}

// P times a scale is at most 2^8, and O follows the largest scale.
TEST(LatentDecode, AllScalesBeyondTheRangeOfHalf) {
  const std::vector<bfloat16_t> q(192, bfloat16_t(0.0f));
  const std::vector<std::int8_t> k(5 * 192, 3);
  for (const float scale : {0x1p20f, 0x1p-30f}) {
    std::vector<bfloat16_t> o(128);
    attention_decode_args a;
    a.q = q.data(), a.k = a.v = k.data(), a.o = o.data();
    a.k_scales = a.v_scales = &scale;
    a.queries = 1, a.keys = 5;
    a.q_strides = a.k_strides = a.v_strides = {192, 192, 192}, a.o_strides = {128, 128, 128};
    launch<attention_decode<narrow_int8>>(a, {.check_lds = emulator::lds_checks::on});
    for (const bfloat16_t x : o) EXPECT_EQ(float(x), 3 * scale);
  }
}

TEST(LatentDecode, RefusesWhatItCannotDo) {
  using kernel = attention_decode<narrow_latent>;
  alignas(16) half_t memory[512];
  const index_t number = 0;
  attention_decode_args good;
  good.q = good.k = good.v = memory;
  good.o = memory + 256;
  good.queries = good.keys = 1;
  good.q_strides = good.k_strides = good.v_strides = good.o_strides = {192, 192, 192};
  ASSERT_EQ(kernel::check(good), nullptr);
  EXPECT_REFUSAL(good, (a.v = memory + 64), "give v = k");
  EXPECT_REFUSAL(good, (a.k_rope = memory), "has_16_bit_rope");
  EXPECT_REFUSAL(good, (a.key_starts = &number), "key_starts");
  EXPECT_REFUSAL(good, (a.k_strides.batch = -192), "TMA");
  EXPECT_REFUSAL(good, (a.block_table = &number, a.table_stride = 1, a.rows_per_page = 1), "positive multiple of 16");
  attention_decode_args list = good;
  EXPECT_NE(std::string(attention_decode<narrow_tokens>::check(list)).find("rows_per_page = 1"), std::string::npos);
  list.block_table = &number;
  list.rows_per_page = 1;
  EXPECT_NE(std::string(attention_decode<narrow_tokens>::check(list)).find("table_stride"), std::string::npos);
  list.table_stride = 1;
  EXPECT_EQ(attention_decode<narrow_tokens>::check(list), nullptr);
}

}  // namespace attention_test
