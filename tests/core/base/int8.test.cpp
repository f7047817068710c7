// SPDX-License-Identifier: MIT
// Conversions to 8-bit integers: every integer, every boundary between two, and what is beyond.
#include <tilewright/core/base/types.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tilewright {
namespace {

int nearest(double value) { return int(std::clamp(std::nearbyint(value), -128.0, 127.0)); }

TEST(Int8, FloatsRoundToTheNearest) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (int i = -260; i <= 260; ++i) {
    const float middle = float(i) / 2;
    for (const float value : {middle, std::nextafter(middle, infinity), std::nextafter(middle, -infinity)}) {
      ASSERT_EQ(int(type_convert<int8_t>(value)), nearest(value)) << std::hexfloat << value;
      ASSERT_EQ(int(type_convert<int8_t>(half_t(value))), nearest(float(half_t(value))));
    }
  }
  for (const float value : {1e9f, -1e9f, 3e38f, infinity, -infinity, 1e-40f, -1e-40f})
    ASSERT_EQ(int(type_convert<int8_t>(value)), nearest(value)) << value;
  EXPECT_EQ(int(type_convert<int8_t>(std::numeric_limits<float>::quiet_NaN())), 0);
}

TEST(Int8, IntegersSaturate) {
  for (int i = -1000; i <= 1000; ++i) ASSERT_EQ(int(type_convert<int8_t>(i)), std::clamp(i, -128, 127));
  static_assert(type_convert<int8_t>(2147483647) == 127 && type_convert<int8_t>(-2147483647 - 1) == -128);
  static_assert(type_convert<int8_t>(4000000000u) == 127 && type_convert<int8_t>(5ull) == 5);
  static_assert(type_convert<int8_t>(9223372036854775807ll) == 127);
}

TEST(Int8, BecomesOtherNumbersExactly) {
  for (int i = -128; i < 128; ++i) {
    const auto value = static_cast<int8_t>(i);
    ASSERT_EQ(type_convert<float>(value), float(i));
    ASSERT_EQ(float(type_convert<half_t>(value)), float(i));
    ASSERT_EQ(type_convert<int>(value), i);
    ASSERT_EQ(int(type_convert<int8_t>(type_convert<bfloat16_t>(value))), i);
  }
}

}  // namespace
}  // namespace tilewright
