// SPDX-License-Identifier: MIT
// Stochastic rounding to an integer.
// EXPECT: stochastic_round: the result is half_t, bfloat16_t or an 8-bit floating-point type
#include <tilewright/numeric/stochastic.hpp>

namespace tw = tilewright;

auto x = tw::stochastic_round<tw::int8_t>(1.5f, 0);
