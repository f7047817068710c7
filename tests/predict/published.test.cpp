// SPDX-License-Identifier: MIT
// Attention and rows in the model: against clocks by hand, bounds, and rates that others published.
#include "published.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace predict {
namespace {

namespace tw = tilewright;

constexpr const tw::arch::cdna_gpu &mi300x = tw::arch::cdna_gpus[0], &mi355x = tw::arch::cdna_gpus[2];

TEST(Published, AttentionByHand) {
  // One block a compute unit: a SIMD has 64 queries and 4096 keys, 4096 times 64 scores of 64 + 36 clocks.
  const attention_problem p{.batch = 1, .heads = 19, .kv_heads = 19, .length = 4096, .dim = 128};
  const tw::cdna_gemm_time t = predict_attention(mi300x, p);
  EXPECT_NEAR(t.compute_us, 4096 * 100.0 / (mi300x.loaded_clock_ghz * 1e3), 1);
  EXPECT_NEAR(t.bound_us, 4.0 * 19 * 4096 * 4096 * 128 / 1307.4e6, 0.01);
}

TEST(Published, NoAttentionIsBelowItsBound) {
  for (const tw::arch::cdna_gpu* gpu : {&mi300x, &mi355x})
    for (const tw::long_index_t length : {1, 100, 1024, 16384})
      for (const tw::long_index_t dim : {64, 128, 256})
        for (const bool causal : {false, true}) {
          attention_problem p{.batch = 2, .heads = 32, .kv_heads = 8, .length = length, .dim = dim, .causal = causal};
          const tw::cdna_gemm_time t = predict_attention(*gpu, p);
          EXPECT_GT(t.us, t.bound_us) << length << " " << dim;
          p.batch = 4;
          EXPECT_GE(predict_attention(*gpu, p).us, t.us);
          p.causal = false;
          EXPECT_GE(predict_attention(*gpu, p).us, t.us);
        }
}

TEST(Published, RowsTakeTheirBytes) {
  const tw::cdna_gemm_time t = predict_rows(mi355x, 8e9);
  EXPECT_DOUBLE_EQ(t.bound_us, 1000);
  EXPECT_NEAR(t.us, 1000 / tw::cdna_gemm_constants{}.memory_share, 5);
  EXPECT_GT(predict_rows(mi355x, 1).us, tw::cdna_gemm_constants{}.launch_us);
}

// From 2,048 on, predicted times are 0.8 to 1.35 of those published; docs/lab/amd_predictions.md shows all.
TEST(Published, RatesAreNear) {
  std::istringstream lines(published_rates());
  std::string line;
  std::getline(lines, line);
  int rows = 0;
  for (; std::getline(lines, line); ++rows) {
    if (line.find("1024") != std::string::npos) continue;
    const double ratio = std::stod(line.substr(line.rfind(' ')));
    EXPECT_GT(ratio, 0.8) << line;
    EXPECT_LT(ratio, 1.35) << line;
  }
  EXPECT_EQ(rows, 12);
}

}  // namespace
}  // namespace predict
