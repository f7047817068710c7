// SPDX-License-Identifier: MIT
#include "shapes.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include <unistd.h>

#include <tilewright/jit/error.hpp>
#include <tilewright/kernels/gemm/choice/tuning_name.hpp>
#include <tilewright/launch/tuning/tuning_file.hpp>

namespace {

namespace jit = tilewright::jit;

std::string sentence_of(const std::string& text) {
  try {
    (void)pack::read_shapes(text, "/no/such/folder");
  } catch (const jit::error& e) {
    return std::string(e.what()).substr(5);
  }
  return {};
}

const std::string good = R"({"targets": ["gfx942", "sm_90a"],
  "gemm": [{"m": 512, "n": 40, "k": 100, "type": "bf16", "b": "n", "lda": 104, "batch": 3, "epilogue": true}],
  "attention": [{"heads": 16, "kv_heads": 4, "queries": 1024, "head_dim": 64, "scale": 0.125, "causal": true}]})";

TEST(Shapes, AreReadAsRequests) {
  const pack::shapes shapes = pack::read_shapes(good, "");
  EXPECT_EQ(shapes.targets, (std::vector<std::string>{"gfx942", "sm_90a"}));
  ASSERT_EQ(shapes.kernels.size(), 2u);
  EXPECT_EQ(shapes.kernels[0]("gfx942").name, "gemm_64x64_bf16_ak_bn_to_bf16_epilogue_v4_512x40x100");
  const std::string on_hopper = shapes.kernels[0]("sm_90a").name;  // the tile is the model's
  EXPECT_TRUE(on_hopper.starts_with("gemm_hopper_") && on_hopper.ends_with("_bf16_ak_bn_to_bf16_epilogue"))
      << on_hopper;
  EXPECT_EQ(shapes.kernels[1]("gfx942").name, "attention_f16_d64_1024x1024");
  EXPECT_EQ(shapes.kernels[1]("sm_90a").name, "attention_hopper_f16_d64_short");
}

TEST(Shapes, BringTheKernelsThatAutotuningChose) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("tilewright-shapes-" + std::to_string(::getpid()));
  const tilewright::gemm_args args{.m = 512, .n = 512, .k = 64, .lda = 64, .ldb = 64, .ldc = 512};
  using enum tilewright::arch::matrix_element;
  tilewright::tuning_file(folder / "tuning", tilewright::tuning_key("some GPU", 132))
      .remember(tilewright::tuning_name(args, f16, f16, true, true), "128x192_b2");
  const pack::shapes shapes = pack::read_shapes(R"({"gemm": [{"m": 512, "n": 512, "k": 64}],
    "texts": [{"name": "tuning", "file": "tuning"}]})",
                                                folder);
  std::filesystem::remove_all(folder);
  ASSERT_EQ(shapes.kernels.size(), 2u);
  EXPECT_EQ(shapes.kernels[1]("sm_90a").name, "gemm_hopper_128x192_b2_f16_ak_bk_to_f16");
  EXPECT_EQ(shapes.kernels[1]("gfx942").name, shapes.kernels[0]("gfx942").name);
}

// Else the kernel is one without scales, which takes other arguments.
TEST(Shapes, BlockScaledKernelsHaveABlockScaledPolicy) {
  const pack::shapes shapes = pack::read_shapes(
      R"({"block_scaled_gemm": [{"m": 1024, "n": 512, "k": 1024, "groups": 4},
                                {"m": 1024, "n": 512, "k": 1024, "groups": 0}]})",
      "");
  ASSERT_EQ(shapes.kernels.size(), 2u);
  for (const char* target : {"sm_90a", "gfx942", "gfx950"})
    for (const jit::kernel_request& request : shapes.kernels)
      EXPECT_NE(request(target).code.find("block_scaled"), std::string::npos) << request(target).name;
}

/// The names of the kernels that a list asks for, one after another.
std::string names(const std::string& text, const std::string& target = "gfx942") {
  std::string all;
  for (const auto& request : pack::read_shapes(text, "").kernels)
    all += (all.empty() ? "" : " ") + request(target).name;
  return all;
}

TEST(Shapes, HaveAListForEachOperation) {
  EXPECT_EQ(names(R"({"softmax": [{"cols": 4096}, {"cols": 333, "type": "f32", "log": true}],
                      "rms_norm": [{"cols": 4096, "type": "bf16"}, {"cols": 4096, "result": "fp8"}],
                      "layer_norm": [{"cols": 1000, "stride": 1001}],
                      "rms_norm_gradient": [{"cols": 1024}], "layer_norm_gradient": [{"cols": 1023}],
                      "quantise": [{"cols": 700, "scales": "per_128", "result": "i8"},
                                   {"cols": 700, "inputs": 2, "expression": "x * x2"}],
                      "rotary": [{"pairs": 64}, {"pairs": 5, "interleaved": true}],
                      "cross_entropy": [{"cols": 50257, "kind": "gradient", "long_targets": true}]})"),
            "softmax_f16_4096 log_softmax_f32_1032_unaligned rms_norm_bf16_4096 rms_norm_f16_to_fp8_per_row_4096 "
            "layer_norm_f16_1040_unaligned rms_norm_gradient_f16_1024 layer_norm_gradient_f16_1552_unaligned "
            "quantise_f16_to_i8_per_128_1040_unaligned quantise_f16_to_fp8_per_row_1040_unaligned rotary_split_f16_v8 "
            "rotary_interleaved_f16_v1 cross_entropy_gradient_f16_i64_16400_unaligned");
  EXPECT_EQ(names(R"({"permute": [{"element_bytes": 4, "lengths": [300, 200], "x_strides": [1, 300]}],
                      "elementwise": [{"type": "f32", "result": "bf16"}],
                      "reduce": [{"kind": "maximum", "type": "bf16"}],
                      "choose_experts": [{"experts": 128, "choices": 8}], "order_by_expert": [{"experts": 128}],
                      "expert_rows": [{"cols": 4096, "kind": "combine"}],
                      "grouped_gemm": [{"m": 4096, "n": 512, "k": 512, "groups": 8, "type": "bf16"}]})"),
            "grouped_gemm_rows_128x128_v8_bf16_ak_bk_to_bf16 permute_v4_32 elementwise_f32_to_bf16 "
            "reduce_maximum_bf16_to_f32 choose_experts_f32_128_v4 order_by_expert_256 combine_rows_f16_4096");
}

TEST(Shapes, HaveAttentionOfAnyLayout) {
  const auto source = [](const std::string& members) {
    return pack::read_shapes(R"({"attention": [{"heads": 4, "kv_heads": 2, "queries": 100, "head_dim": 64,
                                 "scale": 0.125)" +
                                 members + "}]}",
                             "")
        .kernels[0]("gfx942");
  };
  // One row of the fused matrix has (4 + 2 + 2) * 64 elements.
  EXPECT_NE(source(R"(, "layout": "fused")").code.find("args.k_strides.row = 512;"), std::string::npos);
  EXPECT_NE(source(R"(, "layout": "fused")").code.find("args.o_strides.row = 256;"), std::string::npos);
  EXPECT_NE(source(R"(, "layout": "heads")").code.find("args.k_strides.head = 6400;"), std::string::npos);
  EXPECT_NE(source(R"(, "q_strides": [40000, 64, 320])").code.find("args.q_strides.row = 320;"), std::string::npos);
  EXPECT_NE(source(R"(, "packed": true)").problem.find("args.query_starts = jit_somewhere"), std::string::npos);
  EXPECT_EQ(names(R"({"attention_decode": [{"head_dim": 64}],
                      "attention_backward": [{"heads": 2, "queries": 77, "scale": 1, "layout": "fused"}]})",
                  "sm_90a"),
            "attention_backward_hopper_f16_d128 attention_decode_f16_d64");
}

TEST(Shapes, ThatAreWrongAreNamed) {
  EXPECT_EQ(
      sentence_of("{"),
      "the list of shapes is no JSON: line 1, column 2: syntax error while parsing object key - unexpected end of "
      "input; expected string literal");
  EXPECT_EQ(sentence_of("{\n \"gemm\": [\n  {]}").substr(0, 38), "the list of shapes is no JSON: line 3,");
  EXPECT_EQ(sentence_of("[]"), "the list of shapes is no object");
  EXPECT_EQ(sentence_of(R"({"gem": []})"), "the list of shapes has the unknown member 'gem'");
  EXPECT_EQ(sentence_of(R"({"gemm": [{"m": 1, "n": 2}]})"), "gemm[0] (line 1) lacks 'k'");
  EXPECT_EQ(sentence_of("{\"softmax\": [{\"cols\": 5},\n  {\"cols\": 4, \"typ\": 3}]}"),
            "softmax[1] (line 2) has the unknown member 'typ'");
  EXPECT_EQ(sentence_of(R"({"gemm": [{"m": 1e3, "n": 2, "k": 3}]})"), "gemm[0] (line 1) needs a whole number as 'm'");
  EXPECT_EQ(sentence_of(R"({"gemm": [{"m": 3000000000, "n": 2, "k": 3}]})"),
            "gemm[0] (line 1) needs a whole number as 'm'");
  EXPECT_EQ(sentence_of(R"({"gemm": [{"m": 1, "n": 2, "k": 3, "type": "f64"}]})"),
            "gemm[0] (line 1) has 'f64' as 'type'; there are f16, bf16, f32, fp8, bf8, i8 and i32");
  EXPECT_EQ(sentence_of(R"({"softmax": [{"cols": 5, "type": "i8"}]})"),
            "softmax[0] (line 1) cannot be computed: softmax: the elements are f16, bf16 or f32, not i8");
  EXPECT_EQ(sentence_of(R"({"kernels": [{"name": "a", "source": "a.hip", "kernel": "a"}]})"),
            "the file /no/such/folder/a.hip cannot be read");
}

TEST(Shapes, ThatNoKernelComputesAreRefused) {
  const auto refusal = [](const std::string& text, const std::string& target) -> std::string {
    try {
      (void)names(text, target);
    } catch (const jit::error& e) {
      return std::string(e.what()).substr(5);
    }
    return {};
  };
  EXPECT_EQ(refusal(R"({"gemm": [{"m": 8, "n": 8, "k": 8, "lda": 3}]})", "gfx942"),
            "gemm[0] (line 1) for gfx942: lda is smaller than a row of A (a column, if A is column-major)");
  EXPECT_EQ(
      refusal(R"({"attention": [{"heads": 4, "kv_heads": 3, "queries": 9, "scale": 1}]})", "sm_90a"),
      "attention[0] (line 1) for sm_90a: heads must be a multiple of kv_heads: each key head serves equally many");
  EXPECT_EQ(refusal(R"({"attention": [{"heads": 0, "queries": 9, "scale": 1}]})", "gfx942"),
            "attention[0] (line 1) for gfx942: batch, heads, kv_heads and queries must be positive, and keys must not "
            "be negative");
  EXPECT_EQ(refusal(R"({"softmax": [{"cols": 9, "stride": 4}]})", "gfx942"),
            "softmax[0] (line 1) for gfx942: softmax_f16: a row stride is smaller than the row: rows would overlap");
}

TEST(Shapes, ThatAreDamagedAreReadOrRefused) {
  std::mt19937 random(3);
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string text = good;
    text[random() % text.size()] ^= char(1 << random() % 7);
    try {
      for (const auto& request : pack::read_shapes(text, "").kernels) (void)request("sm_90a");
    } catch (const jit::error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
