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

}  // namespace
}  // namespace tilewright
