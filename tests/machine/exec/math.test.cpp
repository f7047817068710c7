// SPDX-License-Identifier: MIT
// exec's functions of floats on the CPU, against double precision.
#include "../../device/math_problem.hpp"

#include <gtest/gtest.h>

namespace {

TEST(Math, ErrorsAreAsDocumented) {
  math_problem::problem p;
  for (int i = 0; i < math_problem::size; ++i) math_problem::run(p.x.data(), p.y.data(), p.out.data(), i);
  for (int f = 0; f < math_problem::num_functions; ++f) {
    const auto verdict = judge(p, math_problem::function(f));
    EXPECT_LE(verdict.worst, 1) << verdict.what;
  }
}

TEST(Math, ANanLosesInConstantExpressionsToo) {
  namespace exec = tilewright::exec;
  constexpr float nan = __builtin_nanf("");
  static_assert(exec::max(nan, -3.0f) == -3.0f && exec::max(-3.0f, nan) == -3.0f && exec::max(2.0f, 3.0f) == 3.0f);
  static_assert(exec::min(nan, 3.0f) == 3.0f && exec::min(3.0f, nan) == 3.0f && exec::min(2.0f, 3.0f) == 2.0f);
}

/// The check itself: each wrong result must be found.
TEST(Math, WrongResultsAreFound) {
  math_problem::problem p;
  for (int i = 0; i < math_problem::size; ++i) math_problem::run(p.x.data(), p.y.data(), p.out.data(), i);
  for (int f = 0; f < math_problem::num_functions; ++f) {
    for (const int i : {5, 4000, 4001}) {  // the first is a special value, against NaN
      const auto at = std::size_t(f * math_problem::size + i);
      const float right = p.out[at];
      p.out[at] = std::isnan(right) ? 1.0f : std::nanf("");
      EXPECT_GT(judge(p, math_problem::function(f)).worst, 1) << math_problem::names[f] << ", element " << i;
      p.out[at] = right;
    }
  }
}

}  // namespace
