// SPDX-License-Identifier: MIT
// 48 lanes, and 32 without a place.
// EXPECT: base_tile: thread rows times thread columns must be the lanes of a wave, 32 or 64
// EXPECT: base_tile: thread rows times thread columns must be the lanes of a wave, 32 or 64
#include <tilewright/ck_tile/base_tile.hpp>

namespace tw = tilewright;

constexpr auto cols = tw::base_tile<float, 6, 8>::cols;
constexpr auto negative = tw::base_tile<float, -4, -8>::cols;
