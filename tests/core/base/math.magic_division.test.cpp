// SPDX-License-Identifier: MIT
// Division by multiplication.
#include <tilewright/core/base/math.hpp>

#include <gtest/gtest.h>

#include <random>

namespace tilewright {
namespace {

constexpr index_t largest = 2147483647;

void expect_divides(index_t divisor, index_t n) {
  const detail::magic_division by = detail::make_magic_division(divisor);
  ASSERT_EQ(by.divide(n), n / divisor) << n << " / " << divisor;
  ASSERT_EQ(by.divide_rounding_down(n), n / divisor) << n << " / " << divisor;
  const index_t below = -(n / divisor) - (n % divisor != 0);
  ASSERT_EQ(by.divide_rounding_down(-n), below) << -n << " / " << divisor;
}

TEST(MagicDivision, OfSmallNumbersBySmallDivisors) {
  for (index_t divisor = 1; divisor <= 130; ++divisor) {
    for (index_t n = 0; n <= 1000; ++n) expect_divides(divisor, n);
  }
}

// Quotients go wrong first where a multiple of the divisor begins or ends.
TEST(MagicDivision, AroundMultiples) {
  std::mt19937 random(1);
  std::uniform_int_distribution<index_t> any(1, largest);
  for (int i = 0; i < 100000; ++i) {
    const index_t divisor = i % 2 == 0 ? any(random) : 1 + any(random) % 5000;
    const index_t multiple = any(random) / divisor * divisor;
    for (const index_t n : {multiple - 1, multiple, largest, largest / divisor * divisor}) {
      if (n >= 0) expect_divides(divisor, n);
    }
  }
  for (const index_t divisor : {largest, largest - 1, 1 << 30, (1 << 30) + 1, (1 << 30) - 1, 1431655765, 3}) {
    for (const index_t n : {0, 1, divisor - 1, divisor, largest - 1, largest}) expect_divides(divisor, n);
  }
}

TEST(MagicDivision, IsAConstantExpression) {
  static_assert(detail::make_magic_division(7).divide(50) == 7 &&
                detail::make_magic_division(1).divide(largest) == largest);
  static_assert(detail::make_magic_division(8) == detail::magic_division{1, 3}, "a power of two is a shift");
  static_assert(detail::magic_division{}.divide(5) == 5, "by one");
}

}  // namespace
}  // namespace tilewright
