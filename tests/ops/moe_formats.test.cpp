// SPDX-License-Identifier: MIT
// Expert layers with weights in narrow formats and fp8 with block scales, and with a capacity.
#include <tilewright/ops.hpp>

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <string>

#include "moe_oracle.hpp"

namespace {

namespace tw = tilewright::ops;
using namespace moe_test;
using tilewright::bfloat16_t;

/// Random weights (experts, rows, k) in a format: codes and scales on the GPU, and what they mean.
struct coded_matrix {
  coded_matrix(int experts, int rows, int k, int bits, int group, tw::element scale, unsigned seed,
               bool has_zeros = false)
      : codes({experts, rows, k * bits / 8}),
        exponents({experts, rows, (k + group - 1) / group}),
        factors({experts, rows, (k + group - 1) / group}),
        zeros({experts, rows, (k + group - 1) / group}),
        factor({experts}) {
    std::mt19937 random(seed);
    const std::size_t groups = std::size_t((k + group - 1) / group);
    for (std::size_t i = 0; i < exponents.data.size(); ++i) {
      const int exponent = int(random() % 3u) - 4;
      exponents.data[i] = static_cast<signed char>(scale == tw::element::fp8 ? (7 + exponent) << 3 : 127 + exponent);
      zeros.data[i] = static_cast<signed char>(has_zeros ? random() % 16u : 8u);
      factors.data[i] = bfloat16_t(std::ldexp(1.0f, exponent) * (scale == tw::element::bf16 ? 1.5f : 1.0f));
    }
    for (std::size_t e = 0; e < factor.data.size(); ++e)
      factor.data[e] = scale == tw::element::fp8 ? std::ldexp(1.0f, int(e % 3) - 1) : 1.0f;
    meaning.resize(codes.data.size() * std::size_t(8 / bits));
    for (std::size_t i = 0; i < meaning.size(); ++i) {
      const std::size_t row = i / std::size_t(k), col = i % std::size_t(k), at = i * std::size_t(bits) / 8;
      const unsigned code = random() % (bits == 4 ? 16u : 112u);  // e4m3: up to 112, not NaN
      auto& byte = reinterpret_cast<unsigned char&>(codes.data[at]);
      byte = static_cast<unsigned char>(bits == 4 && i % 2 == 1 ? (byte & 15u) | code << 4 : code);
      const std::size_t of_group = row * groups + col / std::size_t(group);
      meaning[i] = value(code, bits, scale, zeros.data[of_group]) * float(factors.data[of_group]) *
                   factor.data[row / std::size_t(rows)];
    }
    codes.upload(), exponents.upload(), factors.upload(), zeros.upload(), factor.upload();
    scales = scale == tw::element::bf16 ? tw::tensor(factors) : tw::tensor(exponents);
    scales.type = scale;
  }
  static float value(unsigned code, int bits, tw::element scale, int zero) {
    if (bits == 4 && scale == tw::element::bf16) return float(int(code) - zero);
    constexpr float e2m1[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
    if (bits == 4) return code < 8 ? e2m1[code] : -e2m1[code - 8];
    return float(std::bit_cast<tilewright::fp8_ocp_t>(static_cast<unsigned char>(code)));
  }
  on_gpu<signed char> codes, exponents;
  on_gpu<bfloat16_t> factors;
  on_gpu<signed char> zeros;
  on_gpu<float> factor;
  tw::tensor scales;
  std::vector<float> meaning;
};

/// The layer's bits, if experts have numbers from 10 on and entries without one have others' numbers.
std::string with_other_numbers(moe_case<bfloat16_t, float>& layer) {
  layer.keeps_routing = true;
  layer.run();
  layer.has_logits = false, layer.first_expert = 10;
  layer.expert.download();
  for (std::size_t i = 0; i < layer.expert.data.size(); ++i) {
    int& e = layer.expert.data[i];
    e = e >= 0 ? 10 + e : i % 2 == 0 ? 9 : 10 + layer.p.experts;
  }
  layer.expert.upload();
  return layer.run();
}

/// Runs a layer whose weights have the format, and compares.
void expect_format(moe_problem p, int bits, int group, tw::element scale, bool has_zeros = false) {
  moe_case<bfloat16_t, float> layer(p);
  const coded_matrix gate_up(p.experts, 2 * p.n, p.d, bits, group, scale, 5, has_zeros),
      down(p.experts, p.d, p.n, bits, group, scale, 6, has_zeros);
  for (std::size_t i = 0; i < gate_up.meaning.size(); ++i) layer.gate_up.data[i] = bfloat16_t(gate_up.meaning[i]);
  for (std::size_t i = 0; i < down.meaning.size(); ++i) layer.down.data[i] = bfloat16_t(down.meaning[i]);
  tw::tensor w1 = gate_up.codes, w2 = down.codes;
  if (bits == 8) w1.type = w2.type = tw::element::fp8;
  layer.codes = coded_weights{w1, w2, gate_up.scales, down.scales};
  if (has_zeros) layer.codes->gate_up_zeros = gate_up.zeros, layer.codes->down_zeros = down.zeros;
  if (scale == tw::element::fp8) layer.codes->gate_up_factor = gate_up.factor, layer.codes->down_factor = down.factor;
  const std::string wanted = layer.run();
  layer.expect_downloaded(4);
  if (p.nan_logits >= 0) EXPECT_EQ(with_other_numbers(layer), wanted);
}

TEST(MoeFormats, Mxfp4WithBiasesAndAlternatingHalves) {
  expect_format({.tokens = 40,
                 .experts = 5,
                 .choices = 2,
                 .n = 96,
                 .d = 64,
                 .has_bias = true,
                 .is_interleaved = true,
                 .alpha = 1.702f,
                 .limit = 1.5f,
                 .shift = 1},
                4, 32, tw::element::i8);
}
TEST(MoeFormats, Mxfp8AndSharedExperts) {
  expect_format({.tokens = 7, .experts = 6, .choices = 2, .n = 64, .d = 32, .shared = 1}, 8, 32, tw::element::i8);
}
TEST(MoeFormats, Int4WithGroups) {
  moe_problem p{.tokens = 70, .experts = 3, .choices = 2, .n = 128, .d = 128, .has_bias = true};
  p.nan_logits = 7;  // a token that has one expert
  expect_format(p, 4, 64, tw::element::bf16);
}

TEST(MoeFormats, Int4WithZeroPoints) {
  expect_format({.tokens = 9, .experts = 3, .choices = 2, .n = 128, .d = 128}, 4, 64, tw::element::bf16, true);
}
TEST(MoeFormats, Nvfp4WithAFactorForEachExpert) {
  moe_problem p{.tokens = 11, .experts = 4, .choices = 2, .n = 64, .d = 96, .has_bias = true};
  p.nan_logits = 3;
  expect_format(p, 4, 16, tw::element::fp8);
}

/// e4m3 (gfx942's) with a scale for each block of 128 x 128: rows of x are quantised, so errors are those of e4m3.
TEST(MoeFormats, Fp8WithBlockScales) {
  const moe_problem p{.tokens = 30, .experts = 4, .choices = 2, .n = 192, .d = 160, .has_bias = true};
  moe_case<bfloat16_t, float> layer(p);
  const coded_matrix gate_up(p.experts, 2 * p.n, p.d, 8, 32, tw::element::i8, 5),
      down(p.experts, p.d, p.n, 8, 32, tw::element::i8, 6);
  const on_gpu<float> gate_up_scale({p.experts, 3, 2}, 7), down_scale({p.experts, 2, 2}, 8);
  const auto fill = [](auto& to, const coded_matrix& from, const on_gpu<float>& scale, int rows, int k) {
    const int down_blocks = (rows + 127) / 128, blocks = (k + 127) / 128;
    for (std::size_t i = 0; i < to.data.size(); ++i) {
      const int row = int(i) / k, e = row / rows, at = (e * down_blocks + row % rows / 128) * blocks + int(i) % k / 128;
      const auto code = std::bit_cast<unsigned char>(from.codes.data[i]);
      to.data[i] = bfloat16_t(float(std::bit_cast<tilewright::fp8_fnuz_t>(code)) * scale.data[std::size_t(at)]);
    }
  };
  fill(layer.gate_up, gate_up, gate_up_scale, 2 * p.n, p.d), fill(layer.down, down, down_scale, p.d, p.n);
  tw::tensor w1 = gate_up.codes, w2 = down.codes;
  w1.type = w2.type = tw::element::fp8;
  layer.codes = coded_weights{w1, w2, gate_up_scale, down_scale};
  layer.run();
  layer.expect_downloaded(16);
}

TEST(MoeFormats, ScalesThatFitNoFormat) {
  const moe_problem p{.tokens = 3, .experts = 2, .choices = 1, .n = 64, .d = 64};
  moe_case<bfloat16_t, float> layer(p);
  const coded_matrix w1(2, 128, 64, 4, 32, tw::element::i8, 5), w2(2, 64, 64, 4, 32, tw::element::i8, 6);
  const auto refusal = [&](auto change) {
    coded_weights codes{w1.codes, w2.codes, w1.scales, w2.scales};
    change(codes);
    layer.codes = codes;
    return message_of([&] { layer.call(); });
  };
  EXPECT_EQ(refusal([](coded_weights&) {}), "");
  EXPECT_EQ(refusal([](coded_weights& w) { w.gate_up_scale.lengths[1] = 64; }),
            "moe: gate_up_scale is i8 (2, 64, 2), but must be (2, 128, 2)");
  EXPECT_EQ(
      refusal([](coded_weights& w) { w.down_scale.type = tw::element::i32; }),
      "moe: down_scale has elements of i32; of weights of i8 they are i8 (MXFP4), fp8 (NVFP4), or f16, bf16 or f32 "
      "(int4)");
  EXPECT_EQ(refusal([&](coded_weights& w) { w.down_zeros = w2.zeros; }),
            "moe: down_zeros is i8 (2, 64, 2); zero points are those of int4: i8, with the lengths and strides of the "
            "scales");
  EXPECT_EQ(refusal([&](coded_weights& w) { w.gate_up_factor = w1.factor; }), "moe: gate_up_factor is for NVFP4");
  EXPECT_EQ(refusal([](coded_weights& w) { w.gate_up_scale = {}; }),
            "moe: weights of fp8 or i8 need an x of bf16, a down that is contiguous along its last dimension, and "
            "gate_up_scale and down_scale");
}

TEST(MoeCapacity, ExpertsTakeTheirFirstTokens) {
  moe_problem p{.tokens = 90, .experts = 5, .choices = 2, .n = 16, .d = 24};
  p.favourite = 3, p.capacity = 7;
  moe_case<tilewright::half_t, float>(p).expect();
  p.tokens = 1030, p.n = p.d = 8, p.capacity = 300;  // several blocks order the entries
  moe_case<tilewright::half_t, float>(p).expect();
}

}  // namespace
