// SPDX-License-Identifier: MIT
// Rows of 6 vectors.
// EXPECT: make_copy_distribution: the vectors of the contiguous length must divide the lanes of a wave
#include <tilewright/distribution/copy_distribution.hpp>

constexpr auto rows = tilewright::make_copy_distribution<256, 24, float, 256>();
