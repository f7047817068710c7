// SPDX-License-Identifier: MIT
// A pair of numbers that have no paired conversion.
// EXPECT: convert_pair: the result is a pair of fp8_ocp_t, bf8_ocp_t, fp8_fnuz_t or bf8_fnuz_t
#include <tilewright/numeric/fp8.hpp>

const auto pair = tilewright::convert_pair<float>(1.0f, 2.0f);
