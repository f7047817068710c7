// SPDX-License-Identifier: MIT
// 4-bit integers: every code, every boundary between two, and what is beyond.
#include <tilewright/core/base/types.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tilewright {
namespace {

TEST(NarrowInt, EveryCode) {
  for (int code = 0; code < 16; ++code) {
    int4_t s{};
    uint4_t u{};
    s.bits = u.bits = static_cast<unsigned char>(code);
    EXPECT_EQ(float(s), float(code < 8 ? code : code - 16));
    EXPECT_EQ(float(u), float(code));
    EXPECT_EQ(int(int4_t(float(s)).bits), code);
    EXPECT_EQ(int(type_convert<uint4_t>(type_convert<half_t>(u)).bits), code);
  }
}

TEST(NarrowInt, FloatsRoundToTheNearest) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const auto expect = [](float value) {
    const double rounded = std::nearbyint(double(value));
    ASSERT_EQ(float(int4_t(value)), float(std::clamp(rounded, -8.0, 7.0))) << std::hexfloat << value;
    ASSERT_EQ(float(uint4_t(value)), float(std::clamp(rounded, 0.0, 15.0))) << std::hexfloat << value;
  };
  for (int i = -40; i <= 40; ++i) {
    const float middle = float(i) / 2;
    for (const float value : {middle, std::nextafter(middle, infinity), std::nextafter(middle, -infinity)})
      expect(value);
  }
  for (const float value : {1e9f, -1e9f, 1e-40f, infinity, -infinity}) expect(value);
  EXPECT_EQ(int4_t(std::numeric_limits<float>::quiet_NaN()).bits, 0);
}

}  // namespace
}  // namespace tilewright
