// SPDX-License-Identifier: MIT
// Rows of 24 bytes.
// EXPECT: make_copy_distribution: the contiguous length must be a multiple of the vector (16 bytes)
#include <tilewright/distribution/copy_distribution.hpp>

constexpr auto rows = tilewright::make_copy_distribution<256, 6, float, 256>();
