// SPDX-License-Identifier: MIT
// Conversions of 16-bit floating-point numbers: every bit pattern, and every boundary between neighbours.
#include <tilewright/core/base/bits.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

namespace tilewright {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
const float nan = std::numeric_limits<float>::quiet_NaN();

std::uint16_t bits_of_compilers_half(float value) { return bit_cast<std::uint16_t>(static_cast<_Float16>(value)); }

/// The same number, or both NaN.
bool same(float a, float b) {
  return bit_cast<std::uint32_t>(a) == bit_cast<std::uint32_t>(b) || (std::isnan(a) && std::isnan(b));
}

void expect_like_the_compiler(float value) {
  const std::uint16_t ours = detail::half_bits_from_float(value), theirs = bits_of_compilers_half(value);
  if (std::isnan(value)) {
    EXPECT_GT(ours & 0x7fff, 0x7c00) << "of a NaN";
    EXPECT_EQ(ours & 0x8000, theirs & 0x8000) << "sign of a NaN";
  } else {
    EXPECT_EQ(ours, theirs) << std::hexfloat << value;
  }
}

TEST(Half, EveryBitPatternBecomesTheFloatThatTheCompilerSays) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float ours = detail::float_from_half_bits(static_cast<std::uint16_t>(bits));
    ASSERT_TRUE(same(ours, float(bit_cast<_Float16>(static_cast<std::uint16_t>(bits))))) << std::hex << bits;
    ASSERT_TRUE(std::isnan(ours) || detail::half_bits_from_float(ours) == bits) << std::hex << bits;
  }
}

// Between two neighbouring halves: the value in the middle, and the floats next to it on both sides.
TEST(Half, FloatsAroundEveryRoundingBoundary) {
  for (std::uint32_t bits = 0; bits < 0x7c00; ++bits) {
    const float low = detail::float_from_half_bits(static_cast<std::uint16_t>(bits));
    const float high = bits == 0x7bff ? 65536.0f : detail::float_from_half_bits(static_cast<std::uint16_t>(bits + 1));
    const float middle = (low + high) / 2;
    for (const float value :
         {low, std::nextafter(low, infinity), std::nextafter(middle, 0.0f), middle, std::nextafter(middle, infinity)}) {
      expect_like_the_compiler(value);
      expect_like_the_compiler(-value);
    }
  }
}

TEST(Half, FloatsOfEveryExponent) {
  std::mt19937 random(1);
  for (std::uint32_t exponent = 0; exponent < 256; ++exponent) {
    for (int i = 0; i < 500; ++i) {
      const std::uint32_t mantissa = i == 0 ? 0 : i == 1 ? 0x7fffff : std::uint32_t(random()) & 0x7fffff;
      expect_like_the_compiler(bit_cast<float>(exponent << 23 | mantissa));
      expect_like_the_compiler(bit_cast<float>(0x80000000u | exponent << 23 | mantissa));
    }
  }
}

TEST(Half, Constants) {
  static_assert(detail::half_bits_from_float(1.0f) == 0x3c00 && detail::half_bits_from_float(-2.0f) == 0xc000);
  static_assert(detail::half_bits_from_float(65504.0f) == 0x7bff && detail::half_bits_from_float(65520.0f) == 0x7c00);
  static_assert(detail::half_bits_from_float(0x1p-24f) == 1 && detail::half_bits_from_float(0x1p-25f) == 0);
  static_assert(detail::float_from_half_bits(0x3555) == 0x1.554p-2f &&
                detail::float_from_half_bits(0x8001) == -0x1p-24f);
}

/// Nearest by searching: the neighbour that is closer, or the even one.
std::uint16_t nearest_bfloat16(float value) {
  const std::uint32_t bits = bit_cast<std::uint32_t>(value);
  const std::uint16_t towards_zero = static_cast<std::uint16_t>(bits >> 16);
  if ((bits & 0xffff) == 0) return towards_zero;
  const auto away = static_cast<std::uint16_t>(towards_zero + 1);
  const double low = bit_cast<float>(std::uint32_t(towards_zero) << 16);
  const bool away_is_infinite = (away & 0x7fff) == 0x7f80;
  const double high =
      away_is_infinite ? std::copysign(0x1p128, value) : double(bit_cast<float>(std::uint32_t(away) << 16));
  const double to_low = std::abs(value - low), to_high = std::abs(high - value);
  if (to_low != to_high) return to_low < to_high ? towards_zero : away;
  return towards_zero % 2 == 0 ? towards_zero : away;
}

TEST(Bfloat16, RoundsToTheNearest) {
  for (std::uint32_t high = 0; high < 0x10000; ++high) {
    for (const std::uint32_t low : {0x0000u, 0x0001u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu}) {
      const float value = bit_cast<float>(high << 16 | low);
      if (std::isnan(value)) {
        ASSERT_GT(detail::bfloat16_bits_from_float(value) & 0x7fff, 0x7f80) << std::hex << high << " " << low;
        ASSERT_EQ(detail::bfloat16_bits_from_float(value) & 0x8000, high & 0x8000);
      } else if (std::isinf(value)) {
        ASSERT_EQ(detail::bfloat16_bits_from_float(value), high);
      } else {
        ASSERT_EQ(detail::bfloat16_bits_from_float(value), nearest_bfloat16(value)) << std::hexfloat << value;
      }
    }
  }
}

TEST(Bfloat16, Constants) {
  static_assert(detail::bfloat16_bits_from_float(1.0f) == 0x3f80 && detail::bfloat16_bits_from_float(-0.0f) == 0x8000);
  static_assert(
      detail::bfloat16_bits_from_float(0x1.01p0f) == 0x3f80 && detail::bfloat16_bits_from_float(0x1.03p0f) == 0x3f82,
      "ties to even");
}

TEST(BitCast, KeepsTheBits) {
  static_assert(bit_cast<std::uint32_t>(1.0f) == 0x3f800000u && bit_cast<float>(0x3f800000u) == 1.0f);
  EXPECT_TRUE(std::isnan(bit_cast<float>(bit_cast<std::uint32_t>(nan))));
}

}  // namespace
}  // namespace tilewright
