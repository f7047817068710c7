// SPDX-License-Identifier: MIT
// Elements of 12 bytes.
// EXPECT: coalesced_access_pattern: the element type's size must divide 16 bytes
#include <tilewright/ck_tile/access_pattern.hpp>

namespace tw = tilewright;

struct three {
  float x, y, z;
};
auto n = tw::coalesced_access_pattern<three, 64, 64>::vector_size;
