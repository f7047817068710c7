// SPDX-License-Identifier: MIT
// What the gemm program says about a run.
#include <cmath>

#include <gtest/gtest.h>

#include "report.hpp"

namespace gemm_program {
namespace {

report example() {
  report r;
  r.what = {.m = 100,
            .n = 200,
            .k = 300,
            .type = element::bf16,
            .result = element::bf16,
            .b_order = order::col_major,
            .alpha = 0.5f,
            .beta = 2};
  r.a_source = "a \"quoted\".npy";
  r.b_source = r.c_source = "random";
  r.seed = 42;
  r.result = {.device = "CPU emulating gfx942",
              .kernel = "some_policy",
              .reason = "as the test asks",
              .seconds = {0.5, 0.25, 1.0},
              .lds = {{"ds_read_b128", 1000, 16, 16}, {"ds_write_b128", 500, 0, -1}}};
  r.verification = comparison{.relative_error = 1.5e-3};
  return r;
}

bool contains(const std::string& text, const std::string& piece) { return text.find(piece) != std::string::npos; }

TEST(GemmReport, TextSaysWhatRanAndHowWell) {
  const std::string text = to_text(example());
  for (const char* piece : {"C = 0.5 A B + 2 C", "100 200 300", "bf16, layout rcr", "CPU emulating gfx942",
                            "some_policy", "as the test asks", "250 ms best of 3, median 500 ms", "0.048 GFLOP/s",
                            "0.0015", "tolerance 0.01: correct", "seed 42", "ds_read_b128", "1000"})
    EXPECT_TRUE(contains(text, piece)) << piece << "\n" << text;
}

TEST(GemmReport, JsonSaysTheSame) {
  const std::string json = to_json(example());
  for (const char* piece :
       {R"("m": 100)", R"("layout": "rcr")", R"("dtype": "bf16")", R"("a": "a \"quoted\".npy")",
        R"("best_seconds": 0.25)", R"("operations_per_second": 4.8e+07)", R"("predicted_conflicts": 16)",
        R"("counted_conflicts": null)", R"("relative_error": 0.0015)", R"("correct": true)"})
    EXPECT_TRUE(contains(json, piece)) << piece << "\n" << json;
}

TEST(GemmReport, EpilogueTypesAndBatchAreNamed) {
  report r = example();
  r.what.type = element::e4m3fnuz;
  r.what.batch = 3;
  r.what.epilogue = {.scale = true, .bias = true, .residual = true, .activation = tw::activation::gelu};
  r.verification = comparison{.relative_error = 1, .worst_batch = 2, .worst_row = 7};
  const std::string text = to_text(r), json = to_json(r);
  for (const char* piece : {"C = gelu(0.5 A B * scale + bias) + residual + 2 C", "batch of 3", "e4m3fnuz to bf16"})
    EXPECT_TRUE(contains(text, piece)) << piece << "\n" << text;
  EXPECT_TRUE(contains(text, "0.144 GFLOP/s")) << text;
  for (const char* piece :
       {R"("out_dtype": "bf16")", R"("batch": 3)", R"("activation": "gelu")", R"("row_scale": false)"})
    EXPECT_TRUE(contains(json, piece)) << piece << "\n" << json;
  EXPECT_TRUE(contains(failure_sentence(r), "C(7, 0) of matrix 2 is")) << failure_sentence(r);
}

TEST(GemmReport, NanIsWrongAndNullInJson) {
  report r = example();
  r.verification->relative_error = NAN;
  EXPECT_TRUE(contains(to_text(r), "WRONG"));
  EXPECT_TRUE(contains(to_json(r), R"("relative_error": null)"));
  EXPECT_TRUE(contains(to_json(r), R"("correct": false)"));
  EXPECT_TRUE(contains(failure_sentence(r), "the result is wrong"));
}

TEST(GemmReport, WithoutVerificationItSaysSo) {
  report r = example();
  r.verification.reset();
  EXPECT_TRUE(contains(to_text(r), "not compared"));
  EXPECT_TRUE(contains(to_json(r), R"("verification": null)"));
}

TEST(GemmReport, NoRepetitionHasNoRate) {
  report r = example();
  r.result.seconds.clear();
  EXPECT_FALSE(contains(to_text(r), "FLOP/s"));
  EXPECT_TRUE(contains(to_json(r), R"("operations_per_second": null)"));
}

}  // namespace
}  // namespace gemm_program
