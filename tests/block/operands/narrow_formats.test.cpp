// SPDX-License-Identifier: MIT
// Formats of narrow operands: every code of every word position, against the element types; a format of a user.
#include <tilewright/block/operands/narrow_formats.hpp>
#include <tilewright/block/operands/narrow_tiles.hpp>
#include <tilewright/core/arch/arch.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

namespace tilewright {
namespace {

/// NF4 (QLoRA): 4-bit indices of a table, with a scale for each 64.
struct nf4 : operand_format<unsigned, 8, float, 64> {
  template <class T>
  TILEWRIGHT_HD static array<T, 8> decode(unsigned word) {
    constexpr float table[16] = {-1.0f,       -0.6961928f, -0.5250731f, -0.3949175f, -0.2844414f, -0.1847734f,
                                 -0.0910500f, 0.0f,        0.0795803f,  0.1609302f,  0.2461123f,  0.3379152f,
                                 0.4407098f,  0.5626170f,  0.7229568f,  1.0f};
    array<T, 8> elements;
    for (unsigned i = 0; i < 8; ++i) elements[index_t(i)] = T(table[word >> 4 * i & 15]);
    return elements;
  }
};
static_assert(OperandFormat<nf4> && OperandFormat<mxfp4_format> && OperandFormat<int4_zero_groups<128, half_t>>);
static_assert(!OperandFormat<operand_format<unsigned, 8, float, 64>>, "it decodes nothing");

/// All codes at all positions: element i of `word` is `number(code)`, bit by bit.
template <class F, class T, class Number>
void expect_decoded(Number number, typename F::zero_type zero = {}) {
  constexpr unsigned codes = 1u << F::bits;
  std::mt19937 random(5);
  for (index_t position = 0; position < F::elements; ++position) {
    for (unsigned code = 0; code < codes; ++code) {
      const unsigned shift = unsigned(position * F::bits), mask = (codes - 1) << shift;
      const unsigned word = (unsigned(random()) & ~mask) | code << shift;
      const array<T, F::elements> elements = detail::decode_word<F, T>(word, zero);
      if constexpr (detail::has_decode_pairs<F, T>) {
        const array<T, F::elements> pairs = detail::decode_word<F, T, true>(word, zero);
        for (index_t i = 0; i < 8; ++i) {
          const T expected(float(elements[i / 2 + i % 2 * 4]) * detail::pairs_factor<F, T>());
          ASSERT_EQ(std::memcmp(&pairs[i], &expected, sizeof(T)), 0) << std::hex << word << " element " << i;
        }
      }
      for (index_t i = 0; i < F::elements; ++i) {
        const T expected(number(word >> i * F::bits & (codes - 1)));
        if (std::isnan(float(expected))) {
          ASSERT_TRUE(std::isnan(float(elements[i])));
        } else {
          ASSERT_EQ(std::memcmp(&elements[i], &expected, sizeof(T)), 0)
              << std::hex << word << " element " << i << ": " << float(elements[i]) << ", not " << float(expected);
        }
      }
    }
  }
}

template <class E>
float number_of(unsigned code) {
  E value{};
  value.bits = static_cast<unsigned char>(code);
  return value;
}

template <class T>
void expect_words_become_their_elements() {
  expect_decoded<int4_groups<128>, T>([](unsigned code) { return float(code) - 8.0f; });
  for (const int zero : {0, 3, 8, 15, 16})
    expect_decoded<int4_zero_groups<32>, T>([&](unsigned code) { return float(code) - float(zero); },
                                            static_cast<unsigned char>(zero));
  expect_decoded<mxfp4_format, T>(number_of<fp4_e2m1_t>);
  expect_decoded<nvfp4_format, T>(number_of<fp4_e2m1_t>);
  expect_decoded<int8_groups<>, T>([](unsigned code) { return float(int(code ^ 0x80) - 128); });
  expect_decoded<e4m3_groups<>, T>(number_of<fp8_ocp_t>);
}

TEST(NarrowFormats, WordsBecomeTheirElements) {
  expect_words_become_their_elements<half_t>();
  expect_words_become_their_elements<bfloat16_t>();
}

/// 16 elements in three words: one begins in each word and ends in the next one.
template <class F, class T, int Mantissa>
void expect_6_bits() {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    array<unsigned, 3> word;
    for (index_t w = 0; w < 3; ++w) word[w] = unsigned(random());
    const array<T, 16> elements = F::template decode<T>(word);
    for (index_t i = 0; i < 16; ++i) {
      unsigned code = 0;
      for (index_t bit = 6 * i; bit < 6 * i + 6; ++bit) code |= (word[bit / 32] >> bit % 32 & 1) << (bit - 6 * i);
      const int exponent = int(code >> Mantissa & (0x1fu >> Mantissa)), one = 1 << Mantissa,
                fraction = int(code) & (one - 1), bias = Mantissa == 3 ? 1 : 3;
      const float size =
          std::ldexp(float(exponent > 0 ? one + fraction : fraction), (exponent > 0 ? exponent : 1) - bias - Mantissa);
      ASSERT_EQ(float(elements[i]), code & 0x20 ? -size : size) << "code " << code << " at " << i;
    }
  }
}

TEST(NarrowFormats, SixBitsCrossWords) {
  expect_6_bits<mxfp6_e2m3_format, half_t, 3>();
  expect_6_bits<mxfp6_e2m3_format, bfloat16_t, 3>();
  expect_6_bits<mxfp6_e3m2_format, half_t, 2>();
  expect_6_bits<mxfp6_e3m2_format, bfloat16_t, 2>();
}

// A thread's share may be one word; tiles that are shorter than a group share its scale.
using one_word = detail::narrow_copy<arch::gfx942, int4_groups<128>,
                                     block_tile{64, 64, 32, 2, 2, arch::matrix_op::mfma_16x16x16_x2}, 64>;
static_assert(one_word::words == 1 && one_word::tile_groups == 1 && one_word::group_tiles == 4);

template <class T>
void expect_one_rounding() {
  std::mt19937 random(6);
  for (int i = 0; i < 500; ++i) {
    const float scale = T(std::ldexp(float(random() % 256 + 1), int(random() % 8) - 12));
    const auto elements = int4_groups<32>::decode<T>(unsigned(random()));
    const auto scaled = detail::multiply_elements(elements, detail::bits_of_pair<T>(scale, scale));
    for (index_t e = 0; e < 8; ++e) ASSERT_EQ(float(scaled[e]), float(T(float(elements[e]) * scale)));
  }
  const float nan = std::nanf("");
  for (const float s : {nan, float(e8m0_t::from_bits(0xff))}) {
    const auto elements = mxfp4_format::decode<T>(0x77777777u);
    EXPECT_TRUE(std::isnan(float(detail::multiply_elements(elements, detail::bits_of_pair<T>(s, s))[3])));
  }
}

TEST(NarrowFormats, ScaledElementsRoundOnce) {
  expect_one_rounding<half_t>();
  expect_one_rounding<bfloat16_t>();
}

/// Formats that scale while they decode: as the elements times the scale in bfloat16_t, rounded once.
template <class F>
void expect_scaled_words(float scale, typename F::zero_type zero = {}) {
  std::mt19937 random(8);
  for (int i = 0; i < 50; ++i) {
    const unsigned word = unsigned(random());
    const auto elements = detail::decode_word<F, bfloat16_t>(word, zero);
    const array<bfloat16_t, 8> scaled = F::template decode_scaled<bfloat16_t>(word, zero, scale);
    for (index_t e = 0; e < 8; ++e) {
      const float expected = bfloat16_t(float(elements[e]) * float(bfloat16_t(scale)));
      ASSERT_TRUE(float(scaled[e]) == expected || (std::isnan(float(scaled[e])) && std::isnan(expected)))
          << std::hex << word << " element " << e << ": " << float(scaled[e]) << ", not " << expected;
    }
  }
}

TEST(NarrowFormats, WordsTimesScales) {
  for (const unsigned char bits : {0, 1, 126, 127, 200, 252, 255})
    expect_scaled_words<mxfp4_format>(float(e8m0_t::from_bits(bits)));
  for (const float scale : {0.75f, -448.0f, 0x1p-9f, 0.0f, std::nanf("")}) expect_scaled_words<nvfp4_format>(scale);
  for (const float scale : {0.3f, -1.0078125f, 0x1.fep100f, std::nanf("")}) {
    expect_scaled_words<int4_groups<32>>(scale);
    for (const int zero : {0, 7, 16})
      expect_scaled_words<int4_zero_groups<32>>(scale, static_cast<unsigned char>(zero));
  }
}

TEST(OperandFormat, ScalesAsTheyAreStored) {
  EXPECT_EQ(mxfp4_format::scale(e8m0_t::from_bits(130)), 8.0f);
  EXPECT_TRUE(std::isnan(mxfp4_format::scale(e8m0_t::from_bits(255))));
  EXPECT_EQ(nvfp4_format::scale(fp8_ocp_t(0.75f)), 0.75f);
  EXPECT_EQ(int4_groups<32>::scale(bfloat16_t(-0.5f)), -0.5f);
}

TEST(OperandFormat, OfAUser) {
  const auto elements = nf4::decode<bfloat16_t>(0xf7654320u);
  EXPECT_EQ(float(elements[0]), -1.0f);
  EXPECT_EQ(float(elements[6]), 0.0f);
  EXPECT_EQ(float(elements[7]), 1.0f);
}

}  // namespace
}  // namespace tilewright
