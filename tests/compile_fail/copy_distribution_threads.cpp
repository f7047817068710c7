// SPDX-License-Identifier: MIT
// A block of one wave and a half.
// EXPECT: make_copy_distribution: lengths and threads must be positive, and threads a multiple of the wave size
#include <tilewright/distribution/copy_distribution.hpp>

constexpr auto rows = tilewright::make_copy_distribution<48, 32, float, 96>();
