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
  EXPECT_EQ(shapes.kernels[0]("gfx942").name, "gemm_128x128_bf16_ak_bn_to_bf16_epilogue_v4_512x40x100");
  EXPECT_EQ(shapes.kernels[0]("sm_90a").name, "gemm_hopper_64x16_bf16_ak_bn_to_bf16_epilogue");
  EXPECT_EQ(shapes.kernels[1]("gfx942").name, "attention_f16_d64_1024x1024");
  EXPECT_EQ(shapes.kernels[1]("sm_90a").name, "attention_hopper_f16_d64");
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

TEST(Shapes, ThatAreWrongAreNamed) {
  EXPECT_EQ(sentence_of("{"), "the list of shapes is no JSON");
  EXPECT_EQ(sentence_of("[]"), "the list of shapes is no object");
  EXPECT_EQ(sentence_of(R"({"gem": []})"), "the list of shapes has the unknown member 'gem'");
  EXPECT_EQ(sentence_of(R"({"gemm": [{"m": 1, "n": 2}]})"), "gemm[0] lacks 'k'");
  EXPECT_EQ(sentence_of(R"({"gemm": [{"m": 1e3, "n": 2, "k": 3}]})"), "gemm[0] needs a whole number as 'm'");
  EXPECT_EQ(sentence_of(R"({"gemm": [{"m": 3000000000, "n": 2, "k": 3}]})"), "gemm[0] needs a whole number as 'm'");
  EXPECT_EQ(sentence_of(R"({"gemm": [{"m": 1, "n": 2, "k": 3, "type": "f64"}]})"),
            "gemm[0] has 'f64' as 'type'; there are f16, bf16, f32, fp8, bf8, i8 and i32");
  EXPECT_EQ(sentence_of(R"({"kernels": [{"name": "a", "source": "a.hip", "kernel": "a"}]})"),
            "the file /no/such/folder/a.hip cannot be read");
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
