// SPDX-License-Identifier: MIT
// Integer mathematics, compared with the definitions.
#include <tilewright/core/base/math.hpp>

#include <gtest/gtest.h>

#include <numeric>

namespace tilewright {
namespace {

TEST(Math, MinAndMax) {
  static_assert(min(3, 5) == 3 && min(5, 3) == 3 && min(-1, -1) == -1);
  static_assert(max(3, 5) == 5 && max(5, 3) == 5 && max(1ll, 1ll << 40) == 1ll << 40);
}

TEST(Math, CeilDivIsTheSmallestSufficientCount) {
  for (index_t a = 0; a < 100; ++a) {
    for (index_t b = 1; b < 20; ++b) {
      const index_t n = ceil_div(a, b);
      EXPECT_GE(n * b, a);
      EXPECT_LT((n - 1) * b, a);
      EXPECT_EQ(detail::round_up(a, b), n * b);
    }
  }
  static_assert(ceil_div(0x7fffffff, 2) == 0x40000000, "no overflow");
  static_assert(ceil_div<long_index_t>(1ll << 40, 3) == 366503875926);
}

TEST(Math, Gcd) {
  for (index_t a = -30; a <= 30; ++a) {
    for (index_t b = -30; b <= 30; ++b) EXPECT_EQ(detail::gcd(a, b), std::gcd(a, b)) << a << " " << b;
  }
}

TEST(Math, PowersOfTwo) {
  for (index_t n = -4; n < 300; ++n) {
    EXPECT_EQ(detail::is_power_of_two(n),
              n == 1 || n == 2 || n == 4 || n == 8 || n == 16 || n == 32 || n == 64 || n == 128 || n == 256);
  }
  static_assert(detail::is_power_of_two(1ll << 40) && !detail::is_power_of_two((1ll << 40) + 1));
  for (index_t n = 1; n < 300; ++n) {
    EXPECT_LE(1 << detail::log2_floor(n), n);
    EXPECT_GT(2 << detail::log2_floor(n), n);
  }
  static_assert(detail::log2_floor(0x7fffffff) == 30);
}

TEST(Math, LowestBit) {
  for (index_t bit = 0; bit < 32; ++bit) {
    EXPECT_EQ(detail::lowest_set_bit(1u << bit), bit);
    EXPECT_EQ(detail::lowest_set_bit(~0u << bit), bit);
  }
  static_assert(detail::lowest_set_bit(0x80100000u) == 20);
}

TEST(Math, DivideAndModulo) {
  for (index_t a = 0; a < 100; ++a) {
    for (index_t b = 1; b < 20; ++b) {
      EXPECT_EQ(divide(a, b), a / b);
      EXPECT_EQ(modulo(a, b), a % b);
    }
  }
  static_assert(modulo(-1, 8) == 7, "powers of two: the low bits");
}

}  // namespace
}  // namespace tilewright
