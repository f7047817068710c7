// SPDX-License-Identifier: MIT
// A pair of numbers that have no paired conversion.
// EXPECT: convert_pair: the result is a pair of half_t, bfloat16_t or 8-bit floats
#include <tilewright/numeric/convert_pair.hpp>

const auto pair = tilewright::convert_pair<float>(1.0f, 2.0f);
