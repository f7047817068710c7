// SPDX-License-Identifier: MIT
// Functions of elements of rows, against formulas.
#include <tilewright/tile/registers/element_functions.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tilewright {
namespace {

// Without limit and shift the clamped function is SwiGLU.
TEST(ElementFunctions, SwigluAndItsLimits) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const clamped_swiglu_function none{.limit = infinity}, all{.alpha = 1.7f, .limit = 2, .shift = 1};
  for (const float x : {-3.0f, -0.5f, 0.0f, 1.5f, 4.0f}) {
    for (const float y : {-5.0f, 0.25f, 3.0f}) {
      const double swiglu = double(x) / (1 + std::exp(-double(x))) * double(y);
      EXPECT_NEAR(double(swiglu_function{}(x, y)), swiglu, 1e-5);
      EXPECT_NEAR(double(none(x, y)), swiglu, 1e-5);
      const double gate = std::fmin(double(x), 2.0), up = std::fmax(std::fmin(double(y), 2.0), -2.0) + 1;
      EXPECT_NEAR(double(all(x, y)), gate / (1 + std::exp(-double(1.7f) * gate)) * up, 1e-5);
    }
  }
}

}  // namespace
}  // namespace tilewright
