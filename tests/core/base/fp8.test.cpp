// SPDX-License-Identifier: MIT
// Conversions of 8-bit floating-point numbers: every bit pattern, every half, and every boundary between neighbours.
#include <tilewright/core/base/types.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace tilewright {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
const float nan = std::numeric_limits<float>::quiet_NaN();

/// A format as its specification writes it, from which the numbers are computed in double.
struct specification {
  int mantissa_bits, bias;
  double largest;
  bool fnuz, has_infinity;

  bool is_nan(unsigned bits) const {
    if (fnuz) return bits == 0x80;
    return has_infinity ? (bits & 0x7f) > 0x7c : (bits & 0x7f) == 0x7f;
  }
  double number(unsigned bits) const {
    if (has_infinity && (bits & 0x7f) == 0x7c) return bits & 0x80 ? -infinity : infinity;
    const int exponent = int(bits & 0x7f) >> mantissa_bits, mantissa = int(bits) & ((1 << mantissa_bits) - 1);
    const double fraction = std::ldexp(double(mantissa), -mantissa_bits);
    const double magnitude = exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias);
    return bits & 0x80 ? -magnitude : magnitude;
  }
};

template <class T>
struct spec;
template <>
struct spec<fp8_ocp_t> {
  static constexpr specification of{3, 7, 448, false, false};
};
template <>
struct spec<bf8_ocp_t> {
  static constexpr specification of{2, 15, 57344, false, true};
};
template <>
struct spec<fp8_fnuz_t> {
  static constexpr specification of{3, 8, 240, true, false};
};
template <>
struct spec<bf8_fnuz_t> {
  static constexpr specification of{2, 16, 57344, true, false};
};

template <class T>
class Fp8 : public testing::Test {
 protected:
  static constexpr specification format = spec<T>::of;

  /// Finite numbers that are not negative, in order of their bits and so of their size.
  static const std::vector<double>& numbers() {
    static const std::vector<double> all = [] {
      std::vector<double> result;
      for (unsigned bits = 0; bits < 0x80 && !format.is_nan(bits) && std::isfinite(format.number(bits)); ++bits)
        result.push_back(format.number(bits));
      return result;
    }();
    return all;
  }

  /// Bits of the number that is nearest, found by looking at all of them:
  /// the largest finite one for what is larger.
  static unsigned nearest(float value) {
    const double magnitude = std::abs(double(value));
    const auto& all = numbers();
    unsigned best = 0;
    for (unsigned bits = 1; bits < all.size(); ++bits) {
      const double closer = std::abs(all[bits] - magnitude) - std::abs(all[best] - magnitude);
      if (closer < 0 || (closer == 0 && bits % 2 == 0)) best = bits;
    }
    const double largest = all.back(), next = 2 * largest - all[all.size() - 2];  // if there were one more
    const bool too_large = magnitude - largest > next - magnitude ||
                           (magnitude - largest == next - magnitude && (all.size() - 1) % 2 == 1) || std::isinf(value);
    if (too_large) best = unsigned(all.size() - 1);
    if (format.fnuz && (best == 0 || best == 0x80)) return best;
    return std::signbit(value) ? best | 0x80 : best;
  }

  static void expect_nearest(float value) {
    ASSERT_EQ(unsigned(T(value).bits), nearest(value)) << std::hexfloat << value;
  }
};

using formats = testing::Types<fp8_ocp_t, bf8_ocp_t, fp8_fnuz_t, bf8_fnuz_t>;
TYPED_TEST_SUITE(Fp8, formats);

TYPED_TEST(Fp8, EveryBitPatternIsTheNumberOfItsSpecification) {
  EXPECT_EQ(this->numbers().back(), this->format.largest);
  EXPECT_EQ(detail::fp8_max(TypeParam::format), this->format.largest);
  for (unsigned bits = 0; bits < 0x100; ++bits) {
    TypeParam value;
    value.bits = static_cast<unsigned char>(bits);
    const float as_float = value;
    if (this->format.is_nan(bits)) {
      ASSERT_TRUE(std::isnan(as_float)) << std::hex << bits;
      ASSERT_TRUE(std::isnan(float(TypeParam(as_float))));
    } else {
      ASSERT_EQ(double(as_float), this->format.number(bits)) << std::hex << bits;
      ASSERT_EQ(std::signbit(as_float), bits >= 0x80) << std::hex << bits;
      if (std::isfinite(as_float)) {
        ASSERT_EQ(unsigned(TypeParam(as_float).bits), bits);
      }
    }
  }
}

TYPED_TEST(Fp8, EveryHalfBecomesTheNearest) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = bit_cast<half_t>(static_cast<std::uint16_t>(bits));
    if (std::isnan(float(half))) {
      ASSERT_TRUE(std::isnan(float(type_convert<TypeParam>(half)))) << std::hex << bits;
    } else {
      ASSERT_EQ(unsigned(type_convert<TypeParam>(half).bits), this->nearest(float(half))) << std::hex << bits;
    }
  }
}

TYPED_TEST(Fp8, FloatsAroundEveryRoundingBoundary) {
  std::vector<double> all = this->numbers();
  all.push_back(2 * all.back() - all[all.size() - 2]);
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    const float low = float(all[i]), middle = float((all[i] + all[i + 1]) / 2);
    for (const float value :
         {low, std::nextafter(low, infinity), std::nextafter(middle, 0.0f), middle, std::nextafter(middle, infinity)}) {
      this->expect_nearest(value);
      this->expect_nearest(-value);
    }
  }
}

TYPED_TEST(Fp8, FloatsOfEveryExponent) {
  std::mt19937 random(1);
  for (std::uint32_t exponent = 0; exponent < 256; ++exponent) {
    for (int i = 0; i < 40; ++i) {
      const std::uint32_t mantissa = i == 0 ? 0 : i == 1 ? 0x7fffff : std::uint32_t(random()) & 0x7fffff;
      for (const std::uint32_t sign : {0u, 0x80000000u}) {
        const float value = bit_cast<float>(sign | exponent << 23 | mantissa);
        if (std::isnan(value)) {
          ASSERT_TRUE(std::isnan(float(TypeParam(value))));
        } else {
          this->expect_nearest(value);
        }
      }
    }
  }
}

TYPED_TEST(Fp8, PairsAreTwoNumbers) {
  const auto pair = convert_pair<TypeParam>(1.5f, -3.0f);
  EXPECT_EQ(float(pair[0]), 1.5f);
  EXPECT_EQ(float(pair[1]), -3.0f);
  EXPECT_TRUE(std::isnan(float(convert_pair<TypeParam>(1.0f, nan)[1])));
}

TEST(ConvertPair, OfSixteenBitsIsTwoNumbers) {
  const auto halves = convert_pair<half_t>(1.5f, -3.0f);
  EXPECT_EQ(float(halves[0]), 1.5f);
  EXPECT_EQ(float(halves[1]), -3.0f);
  const auto pair = convert_pair<bfloat16_t>(1.5f, -3.0f);
  EXPECT_EQ(float(pair[0]), 1.5f);
  EXPECT_EQ(float(pair[1]), -3.0f);
}

TEST(Fp8, Constants) {
  static_assert(detail::fp8_bits_from_float<detail::fp8_format::e4m3>(1.0f) == 0x38 &&
                detail::fp8_bits_from_float<detail::fp8_format::e4m3_fnuz>(1.0f) == 0x40);
  static_assert(detail::fp8_bits_from_float<detail::fp8_format::e5m2>(1.0f) == 0x3c &&
                detail::fp8_bits_from_float<detail::fp8_format::e5m2_fnuz>(1.0f) == 0x40);
  static_assert(float(fp8_ocp_t(1e9f)) == 448.0f && float(fp8_fnuz_t(-1e9f)) == -240.0f &&
                float(bf8_ocp_t(-1e9f)) == -57344.0f);
  static_assert(fp8_fnuz_t(-0.0f).bits == 0 && fp8_ocp_t(-0.0f).bits == 0x80);
  static_assert(type_convert<float>(type_convert<fp8_ocp_t>(type_convert<bfloat16_t>(0.1f))) == 0x1.ap-4f);
  static_assert(float(type_convert<bf8_ocp_t>(type_convert<fp8_ocp_t>(3.25f))) == 3.0f, "ties to even");
}

}  // namespace
}  // namespace tilewright
