// SPDX-License-Identifier: MIT
// Base tiles.
#include <tilewright/compat/ck_tile/xor_preshuffle.hpp>

namespace tw = tilewright;

// A block of one and a half base tiles, and blocks of none.
// EXPECT(3): base_tile: the block must be a whole number of base tiles in both dimensions
constexpr auto half = tw::base_tile<float, 4, 8>::make_lds_descriptor<6, 32>();
constexpr auto no_rows = tw::base_tile<float, 4, 8>::make_lds_descriptor<0, 32>();
constexpr auto no_columns = tw::base_tile<float, 4, 8>::make_lds_descriptor<4, 0>();

// Elements of 12 bytes.
// EXPECT: base_tile: the element type's size must divide 16 bytes
struct three {
  float x, y, z;
};
constexpr auto element = tw::base_tile<three, 4, 8>::cols;

// 48 lanes, and 32 without a place.
// EXPECT(2): base_tile: thread rows times thread columns must be the lanes of a wave, 32 or 64
constexpr auto lanes = tw::base_tile<float, 6, 8>::cols;
constexpr auto negative = tw::base_tile<float, -4, -8>::cols;
