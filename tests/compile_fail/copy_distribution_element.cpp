// SPDX-License-Identifier: MIT
// Elements of 12 bytes.
// EXPECT: make_copy_distribution: elements have 1, 2, 4, 8 or 16 bytes
#include <tilewright/distribution/copy_distribution.hpp>

struct three {
  float x, y, z;
};

constexpr auto rows = tilewright::make_copy_distribution<64, 32, three, 256>();
