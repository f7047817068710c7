// SPDX-License-Identifier: MIT
#include <tilewright/kernels/attention/backward/hopper_backward.hpp>

#include "../../explored.hpp"
#include "check_attention_backward.hpp"

namespace attention_test {

namespace {

/// 128 queries a step, a function of the scores; and consumers that share the columns of dQ, of which the last 32 of
/// 128 do not exist.
struct long_steps : wgmma_backward_policy<half_t, 64> {
  using score_function = soft_cap;
  using args_type = cap_args;
};
struct short_steps : wgmma_backward_policy<bfloat16_t, 96, 64, hopper_backward_tile{64, 2, true}> {};
struct late_releases : wgmma_backward_policy<half_t, 64, 64, hopper_backward_tile{128, 2, true, true}> {};

/// Q, K and V of 8 bits.
struct fp8_inputs : wgmma_backward_policy<bfloat16_t, 96, 64> {
  using input_type = fp8_ocp_t;
};

template <class Policy>
struct masked : Policy {
  static constexpr bool has_block_mask = true;
};

static_assert(std::is_base_of_v<hopper_backward_policy<half_t, 64>, long_steps>);
static_assert(
    std::is_same_v<hopper_backward_policy<half_t, 192, 96>, attention_backward_policy<arch::sm90, half_t, 192, 96>>);

}  // namespace

TEST(SpecializedBackward, LongStepsWithScoreFunction) { expect_random_gradients<long_steps>(5, 1); }
TEST(SpecializedBackward, LateReleases) { expect_random_gradients<late_releases>(3, 3); }
TEST(SpecializedBackward, ShortSteps) { expect_random_gradients<short_steps>(6, 2); }

TEST(SpecializedBackward, Fp8) { expect_random_gradients<fp8_inputs>(4, 4); }

TEST(SpecializedBackward, BlockMasks) {
  expect_random_gradients<masked<long_steps>>(5, 5);
  expect_random_gradients<masked<short_steps>>(5, 6);
  // No window. More than 32 steps; blocks that others need not wait for.
  problem steps = with(1, 1, {2500}, {40}), blocks = with(1, 1, {256}, {300});
  steps.mask_queries = blocks.mask_queries = 64, steps.mask_keys = 16, blocks.mask_keys = 128;
  expect_gradients<masked<short_steps>>(steps);
  expect_gradients<masked<short_steps>>(blocks);
}
TEST(SpecializedBackward, SkipsTilesThatABlockMaskHides) { expect_gradients_skip_hidden_tiles<masked<short_steps>>(); }

// Blocks of several keys, which add to dQ in order.
TEST(SpecializedBackward, PassesInExploredSchedules) {
  problem p;
  p.queries = {70};
  p.keys = {160};
  p.kv_heads = 1;
  p.heads = 2;
  problem with_mask = p;
  with_mask.mask_queries = 16, with_mask.mask_keys = 128;
  tilewright::testing_schedules::expect_in_explored_schedules([&] {
    expect_gradients<short_steps>(p);
    expect_gradients<late_releases>(p);
    expect_gradients<masked<short_steps>>(with_mask);
  });
}

TEST(SpecializedBackward, WholeTilesRowsWithoutKeysAndSequencesWithoutKeys) {
  expect_gradients_at_the_edges<short_steps>(256);
}

TEST(SpecializedBackward, RefusesStridesThatBulkCopiesCannotHave) {
  alignas(16) bfloat16_t memory[5][96];
  float lse = 0;
  attention_backward_args args = gradients_of_one_query(memory, lse);
  ASSERT_EQ(attention_backward<short_steps>::check(args), nullptr);
  EXPECT_EQ(attention_backward<short_steps>::workspace_bytes(args), 16 + 16 * 96 * 4 + 8);
  attention_backward_args many = args;
  many.heads = many.kv_heads = many.batch = 65535;
  many.d_q_strides = many.d_k_strides = many.d_v_strides = {96 * 65535, 96, 96};
  EXPECT_STREQ(attention_backward<short_steps>::check(many), "there are too many rows of K; use several launches");
  args.d_k_strides.head = -96;
  EXPECT_NE(std::string(attention_backward<short_steps>::check(args)).find("not negative"), std::string::npos);
}

}  // namespace attention_test
