// SPDX-License-Identifier: MIT
#include <tilewright/kernels/attention/forward/hopper_attention_choice.hpp>

#include <gtest/gtest.h>

namespace {

using namespace tilewright;

constexpr hopper_attention_tile chosen(index_t keys, bool causal, index_t dim, index_t value_dim, index_t bytes = 2) {
  attention_args args;
  args.keys = keys;
  args.window.right = causal ? 0 : -1;
  return choose_hopper_attention_tile(args, dim, value_dim, bytes);
}

TEST(HopperAttentionChoice, HasSmallerTilesForFewKeys) {
  constexpr hopper_attention_tile long_64 = hopper_attention_policy<half_t, 64>::tile,
                                  long_128 = hopper_attention_policy<half_t, 128>::tile;
  EXPECT_EQ(chosen(1024, false, 128, 128).queries, 128);
  EXPECT_EQ(chosen(1025, false, 128, 128), long_128);
  EXPECT_EQ(chosen(1024, true, 64, 64).blocks, 2);
  EXPECT_EQ(chosen(1025, true, 64, 64), long_64);
  EXPECT_EQ(chosen(64, false, 64, 64), long_64) << "without a causal mask the default is faster";
  EXPECT_EQ(chosen(1024, false, 96, 96).queries, 128);
  for (const index_t dim : {64, 128, 256}) EXPECT_EQ(chosen(1024, true, dim, dim, 1).queries, 128) << dim;
  EXPECT_NE(chosen(1024, true, 256, 256, 1), chosen(1025, true, 256, 256, 1));
}

TEST(HopperAttentionChoice, LeavesOtherKernelsTheirDefault) {
  EXPECT_EQ(chosen(64, true, 96, 96, 1), (hopper_attention_policy<fp8_ocp_t, 96>::tile));
  EXPECT_EQ(chosen(64, true, 192, 128), (hopper_attention_policy<half_t, 192, 128>::tile));
  EXPECT_EQ(chosen(64, true, 256, 256), (hopper_attention_policy<half_t, 256>::tile));
}

}  // namespace
