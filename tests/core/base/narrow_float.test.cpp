// SPDX-License-Identifier: MIT
// Numbers of 4 and 6 bits and power-of-two scales: every code against tables, and floats around every boundary.
#include <tilewright/core/base/types.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace tilewright {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
const float nan = std::numeric_limits<float>::quiet_NaN();

/// The numbers that are not negative, in the order of their codes, as the OCP specification lists them.
template <class T>
const std::vector<float> table;
template <>
const std::vector<float> table<fp4_e2m1_t>{0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
template <>
const std::vector<float> table<fp6_e2m3_t>{
    0, 0.125f, 0.25f, 0.375f, 0.5f, 0.625f, 0.75f, 0.875f, 1, 1.125f, 1.25f, 1.375f, 1.5f, 1.625f, 1.75f, 1.875f,
    2, 2.25f,  2.5f,  2.75f,  3,    3.25f,  3.5f,  3.75f,  4, 4.5f,   5,     5.5f,   6,    6.5f,   7,     7.5f};
template <>
const std::vector<float> table<fp6_e3m2_t>{
    0, 0.0625f, 0.125f, 0.1875f, 0.25f, 0.3125f, 0.375f, 0.4375f, 0.5f, 0.625f, 0.75f, 0.875f, 1,  1.25f, 1.5f, 1.75f,
    2, 2.5f,    3,      3.5f,    4,     5,       6,      7,       8,    10,     12,    14,     16, 20,    24,   28};

template <class T>
class NarrowFloat : public testing::Test {
 protected:
  static constexpr unsigned sign = 1u << (T::num_bits - 1);

  /// Found by looking at all numbers.
  static unsigned nearest(float value) {
    const auto& all = table<T>;
    unsigned best = 0;
    for (unsigned code = 1; code < all.size(); ++code) {
      const double old = std::abs(std::abs(double(value)) - double(all[best])),
                   now = std::abs(std::abs(double(value)) - double(all[code]));
      if (now < old || (now == old && code % 2 == 0)) best = code;
    }
    if (std::abs(value) > all.back()) best = sign - 1;
    return std::signbit(value) ? best | sign : best;
  }
};

using formats = testing::Types<fp4_e2m1_t, fp6_e2m3_t, fp6_e3m2_t>;
TYPED_TEST_SUITE(NarrowFloat, formats);

TYPED_TEST(NarrowFloat, EveryCodeIsTheNumberOfItsTable) {
  ASSERT_EQ(table<TypeParam>.size(), this->sign);
  for (unsigned code = 0; code < 2 * this->sign; ++code) {
    TypeParam value{};
    value.bits = static_cast<unsigned char>(code);
    const float expected = table<TypeParam>[code % this->sign];
    ASSERT_EQ(float(value), code < this->sign ? expected : -expected) << code;
    ASSERT_EQ(std::signbit(float(value)), code >= this->sign) << code;
    ASSERT_EQ(unsigned(TypeParam(float(value)).bits), code);
    ASSERT_EQ(unsigned(type_convert<TypeParam>(type_convert<half_t>(value)).bits), code);
  }
}

TYPED_TEST(NarrowFloat, FloatsBecomeTheNearest) {
  const auto expect_nearest = [&](float value) {
    ASSERT_EQ(unsigned(TypeParam(value).bits), this->nearest(value)) << std::hexfloat << value;
    ASSERT_EQ(unsigned(TypeParam(-value).bits), this->nearest(-value)) << std::hexfloat << -value;
  };
  const auto& all = table<TypeParam>;
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    const float middle = (all[i] + all[i + 1]) / 2;
    for (const float value : {all[i], std::nextafter(middle, 0.0f), middle, std::nextafter(middle, infinity)})
      expect_nearest(value);
  }
  std::mt19937 random(2);
  for (unsigned exponent = 0; exponent < 255; ++exponent) {
    for (int i = 0; i < 20; ++i) expect_nearest(bit_cast<float>(exponent << 23 | (unsigned(random()) & 0x7fffff)));
  }
  for (const float value : {all.back(), std::nextafter(all.back(), infinity), 1e30f, infinity}) expect_nearest(value);
}

TYPED_TEST(NarrowFloat, NanBecomesTheLargest) {
  EXPECT_EQ(float(TypeParam(nan)), table<TypeParam>.back());
  EXPECT_EQ(float(TypeParam(-nan)), table<TypeParam>.back());
}

TEST(E8m0, EveryCodeIsAPowerOfTwo) {
  for (int code = 0; code < 255; ++code) {
    const auto scale = e8m0_t::from_bits(static_cast<unsigned char>(code));
    ASSERT_EQ(float(scale), std::ldexp(1.0f, code - 127)) << code;
    for (const e8m0_t again : {e8m0_t(float(scale)), e8m0_t::floor(float(scale)), e8m0_t::ceil(-float(scale))})
      ASSERT_EQ(int(again.bits), code);
  }
  EXPECT_TRUE(std::isnan(float(e8m0_t::from_bits(0xff))));
}

TEST(E8m0, FloatsRoundToPowersOfTwo) {
  std::mt19937 random(3);
  for (unsigned exponent = 0; exponent < 255; ++exponent) {
    for (int i = 0; i < 40; ++i) {
      const unsigned mantissa = i == 0   ? 1
                                : i == 1 ? 0x3fffff
                                : i == 2 ? 0x400000
                                : i == 3 ? 0x7fffff
                                         : random() & 0x7fffff;
      const float value = bit_cast<float>((i % 2 == 0 ? 0u : 1u << 31) | exponent << 23 | mantissa);
      const double magnitude = std::abs(double(value));
      int below = int(std::floor(std::log2(magnitude)));
      while (std::ldexp(1.0, below) > magnitude) --below;
      while (std::ldexp(1.0, below + 1) <= magnitude) ++below;
      const int above = std::ldexp(1.0, below) == magnitude ? below : below + 1;
      const int nearest = magnitude - std::ldexp(1.0, below) < std::ldexp(1.0, above) - magnitude ? below : above;
      const auto code = [](int power) { return std::min(std::max(power + 127, 0), 254); };
      ASSERT_EQ(int(e8m0_t(value).bits), code(nearest)) << std::hexfloat << value;
      ASSERT_EQ(int(e8m0_t::floor(value).bits), code(below)) << std::hexfloat << value;
      ASSERT_EQ(int(e8m0_t::ceil(value).bits), code(above)) << std::hexfloat << value;
    }
  }
  EXPECT_EQ(e8m0_t(0.0f).bits, 0);
  EXPECT_EQ(e8m0_t(infinity).bits, 254);
  EXPECT_EQ(e8m0_t(nan).bits, 255);
  static_assert(float(type_convert<e8m0_t>(half_t(3.0f))) == 4.0f && float(e8m0_t::floor(3.9f)) == 2.0f);
}

}  // namespace
}  // namespace tilewright
