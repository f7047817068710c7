// SPDX-License-Identifier: MIT
#include <tilewright/kernels/attention/backward/hopper_backward.hpp>

#include "../../explored.hpp"
#include "check_attention_backward.hpp"

namespace attention_test {

namespace {

/// Two consumers; P and dS share a place in LDS, and dQ leaves by way of a stage. The last 32 of 256 columns do not
/// exist.
struct shared_scores : wide_backward_policy<bfloat16_t, 224> {};
static_assert(shared_scores::lds.shares_scores() && shared_scores::lds.d_q_is_in_stage());

/// Three consumers, of which the last repeats columns of dV; dQ has LDS of its own.
struct narrow_values : wide_backward_policy<half_t, 192, 128> {
  using score_function = soft_cap;
  using args_type = cap_args;
};
static_assert(!narrow_values::lds.shares_scores() && !narrow_values::lds.d_q_is_in_stage());

/// Two consumers with 128 columns of dQ in one product, of which the second repeats those of the first.
struct few_keys : wide_backward_policy<bfloat16_t, 128, 256> {};
static_assert(!few_keys::lds.shares_scores() && few_keys::lds.d_q_boxes() == 2);

struct masked : shared_scores {
  static constexpr bool has_block_mask = true;
};

static_assert(std::is_same_v<hopper_backward_policy<half_t, 256>, wide_backward_policy<half_t, 256>>);
static_assert(
    std::is_same_v<hopper_backward_policy<half_t, 160, 64>, attention_backward_policy<arch::sm90, half_t, 160, 64>>);

}  // namespace

TEST(WideGradients, TwoConsumers) { expect_random_gradients<shared_scores>(3, 1); }
TEST(WideGradients, ThreeConsumersWithScoreFunction) { expect_random_gradients<narrow_values>(3, 2); }

TEST(WideGradients, BlockMasks) { expect_random_gradients<masked>(3, 3); }

TEST(WideGradients, WholeTilesRowsWithoutKeysAndSequencesWithoutKeys) { expect_gradients_at_the_edges<few_keys>(128); }

// The one score of a row is far below 0, that of a row of K that does not exist: its exponential is infinite.
TEST(WideGradients, KeysThatDoNotExistHaveNoProbability) {
  problem p;
  p.queries = {20};
  p.keys = {1};
  p.scale = 30;
  expect_gradients<few_keys>(p);
}

// Several units of a block and several steps of each.
TEST(WideGradients, PassesInExploredSchedules) {
  problem p;
  p.queries = {70};
  p.keys = {100};
  tilewright::testing_schedules::expect_in_explored_schedules([&] {
    expect_gradients<shared_scores>(p);
    expect_gradients<narrow_values>(p);
    expect_gradients<few_keys>(p);
  });
}

}  // namespace attention_test
