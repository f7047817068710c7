// SPDX-License-Identifier: MIT
// The checks that kernels run as well, as constant expressions and on the host.
#include "../../device/algebra_checks.hpp"

#include <gtest/gtest.h>

namespace tilewright::algebra {
namespace {

template <index_t Which>
constexpr bool holds_v = check_both(Which, 1);

static_assert(num_checks == 8);
static_assert(holds_v<0> && holds_v<1> && holds_v<2> && holds_v<3>);
static_assert(holds_v<4> && holds_v<5> && holds_v<6> && holds_v<7>);

TEST(Algebra, ChecksHoldAtRunTime) {
  volatile index_t one = 1;
  for (index_t which = 0; which < num_checks; ++which) EXPECT_TRUE(check_both(which, one)) << "check " << which;
}

// A formula that is wrong in one place is noticed.
TEST(Algebra, ChecksCanFail) {
  constexpr auto matrix =
      matrix_through(known(1), make_pass_through_transform(number<6>{}), make_pass_through_transform(number<8>{}));
  EXPECT_TRUE(follows(matrix, [](index_t i, index_t j) { return 9 * i + j; }));
  EXPECT_FALSE(follows(matrix, [](index_t i, index_t j) { return 9 * i + j + (i == 5 && j == 7); }));
  EXPECT_FALSE(follows(matrix, [](index_t i, index_t j) { return i == 5 && j == 7 ? -1 : 9 * i + j; }));
}

}  // namespace
}  // namespace tilewright::algebra
