// SPDX-License-Identifier: MIT
// Arithmetic on pairs of 16-bit floats, against arithmetic on floats.
#include <tilewright/machine/exec/half_pairs.hpp>

#include <gtest/gtest.h>

#include <random>

namespace tilewright {
namespace {

template <class T>
void expect_pairs() {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (int i = 0; i < 200; ++i) {
    const array<T, 2> a{T(normal(random)), T(normal(random))}, b{T(normal(random)), T(normal(random))};
    const auto product = bit_cast<array<T, 2>>(exec::multiply_halves<T>(bit_cast<unsigned>(a), bit_cast<unsigned>(b)));
    const auto less = bit_cast<array<T, 2>>(exec::subtract_halves<T>(bit_cast<unsigned>(a), bit_cast<unsigned>(b)));
    for (index_t e = 0; e < 2; ++e) {
      ASSERT_EQ(float(product[e]), float(T(float(a[e]) * float(b[e]))));
      ASSERT_EQ(float(less[e]), float(T(float(a[e]) - float(b[e]))));
    }
  }
}

TEST(HalfPairs, AndOr) { EXPECT_EQ(exec::and_or(0x12345678u, 0xff00ffu, 0x43004300u), 0x43344378u); }

TEST(HalfPairs, OfBothTypes) {
  expect_pairs<half_t>();
  expect_pairs<bfloat16_t>();
}

/// Each byte of both words, and a scale whose products round.
TEST(HalfPairs, ScaleBytes) {
  for (const float factor : {0.75f, -1.0078125f, 0x1.fep-3f})
    for (unsigned byte = 0; byte < 16; ++byte) {
      const auto pairs = bit_cast<array<bfloat16_t, 8>>(
          exec::scale_bytes(byte * 0x1010101u ^ 0x08040201u, byte * 0x1010101u ^ 0x01020408u, 11, factor));
      constexpr unsigned low[] = {1, 2, 4, 8}, high[] = {8, 4, 2, 1};
      for (index_t i = 0; i < 4; ++i) {
        ASSERT_EQ(float(pairs[2 * i]), float(bfloat16_t((float(byte ^ low[i]) - 11) * factor)));
        ASSERT_EQ(float(pairs[2 * i + 1]), float(bfloat16_t((float(byte ^ high[i]) - 11) * factor)));
      }
    }
}

}  // namespace
}  // namespace tilewright
