// SPDX-License-Identifier: MIT
// Elements of 12 bytes.
// EXPECT: base_tile: the element type's size must divide 16 bytes
#include <tilewright/ck_tile/base_tile.hpp>

namespace tw = tilewright;

struct three {
  float x, y, z;
};
constexpr auto cols = tw::base_tile<three, 4, 8>::cols;
