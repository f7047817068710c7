// SPDX-License-Identifier: MIT
#include "check_attention_backward.hpp"

namespace attention_test {

namespace {

struct cdna3_gradients : attention_backward_policy<arch::gfx942, half_t, 64> {};
struct rdna3_gradients : attention_backward_policy<arch::gfx1100, bfloat16_t, 96, 64> {
  static constexpr bool gradients_apart = true;  // as with wide heads
};

template <class Policy>
struct masked : Policy {
  static constexpr bool has_block_mask = true;
};

struct hopper_gradients : attention_backward_policy<arch::sm90, half_t, 64, 128> {
  using score_function = soft_cap;
  using args_type = cap_args;
};

/// Q, K and V of 8 bits.
struct cdna3_fp8_gradients : attention_backward_policy<arch::gfx942, bfloat16_t, 64, 96> {
  using input_type = fp8_fnuz_t;
};

}  // namespace

TEST(AttentionBackward, Cdna3) { expect_random_gradients<cdna3_gradients>(10, 1); }
TEST(AttentionBackward, Rdna3) { expect_random_gradients<rdna3_gradients>(5, 2); }
TEST(AttentionBackward, HopperWithScoreFunction) { expect_random_gradients<hopper_gradients>(8, 3); }

TEST(AttentionBackward, Fp8) { expect_random_gradients<cdna3_fp8_gradients>(5, 6); }

// Registers hold no rows in flight on RDNA; NVIDIA GPUs copy without registers, to two buffers.
TEST(AttentionBackward, BlockMasks) {
  expect_random_gradients<masked<rdna3_gradients>>(6, 4);
  expect_random_gradients<masked<hopper_gradients>>(8, 5);
  problem p = with(2, 1, {100}, {150});  // no window, so the block mask alone hides keys
  p.mask_queries = p.mask_keys = 16;
  expect_gradients<masked<rdna3_gradients>>(p);
  expect_gradients<masked<hopper_gradients>>(p);
}
TEST(AttentionBackward, SkipsTilesThatABlockMaskHides) {
  expect_gradients_skip_hidden_tiles<masked<rdna3_gradients>>();
  expect_gradients_skip_hidden_tiles<masked<hopper_gradients>>();
}

TEST(AttentionBackward, WholeTilesRowsWithoutKeysAndSequencesWithoutKeys) {
  expect_gradients_at_the_edges<cdna3_gradients>(128);
}

TEST(AttentionBackward, RefusesWhatItCannotDo) {
  using kernel = attention_backward<cdna3_gradients>;
  alignas(16) half_t memory[5][64];
  float lse = 0;
  const attention_backward_args good = gradients_of_one_query(memory, lse);
  ASSERT_EQ(kernel::check(good), nullptr);
  EXPECT_EQ(workspace_bytes(good), 8);
  EXPECT_REFUSAL(good, (a.scale = 0), "scale");
  EXPECT_REFUSAL(good, (a.lse = nullptr), "lse is null");
  EXPECT_REFUSAL(good, (a.d_sinks = &lse), "which are null");
  EXPECT_REFUSAL(good, (a.d_k = nullptr), "d_o, d_q, d_k or d_v");
  EXPECT_REFUSAL(good, (a.workspace = nullptr), "workspace");
  EXPECT_REFUSAL(good, (a.workspace = memory[4] + 2), "aligned to 16 bytes");
  EXPECT_REFUSAL(good, (a.d_q = memory[0]), "an input");
  EXPECT_REFUSAL(good, (a.d_k = a.d_v), "another gradient");
  EXPECT_REFUSAL(good, (a.d_v_strides.row = 60), "multiples of 8");
  EXPECT_REFUSAL(good, (a.heads = a.kv_heads = 2, a.d_k_strides.head = 0), "in the same memory");
  EXPECT_REFUSAL(good, (a.heads = a.kv_heads = a.keys = 2, a.d_v_strides.head = 64), "in the same memory");
  EXPECT_REFUSAL(good, (a.heads = a.queries = 2), "in the same memory");
  EXPECT_REFUSAL(good, (a.heads = a.kv_heads = 2, a.d_o_strides.head = 0), "accepted");
  EXPECT_REFUSAL(good, (a.queries = 0x20000000), "2^29");
  EXPECT_REFUSAL(good, (a.q_scales = &lse), "for 8-bit elements");
  const unsigned bits = 0;
  EXPECT_REFUSAL(good, (a.block_mask.bits = &bits), "takes no block mask");
}

TEST(AttentionBackward, RefusesWhatItCannotDoWith8Bits) {
  using kernel = attention_backward<cdna3_fp8_gradients>;
  alignas(16) bfloat16_t memory[5][96];
  float lse = 0;
  const attention_backward_args good = gradients_of_one_query(memory, lse);
  ASSERT_EQ(kernel::check(good), nullptr);
  EXPECT_EQ(kernel::workspace_bytes(good), 16 + 2 * (64 + 64 + 96));
  EXPECT_REFUSAL(good, (a.q_scales = &lse), "accepted");
  EXPECT_REFUSAL(good, (a.k_strides.row = 104), "multiples of 16");
  EXPECT_REFUSAL(good, (a.d_k_strides.row = 104), "accepted");
  EXPECT_REFUSAL(good, (a.workspace = nullptr), "workspace");
}

}  // namespace attention_test
