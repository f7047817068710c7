// SPDX-License-Identifier: MIT
// A copy whose block covers 32 rows at once, of 48 rows.
// EXPECT: make_copy_distribution: the other length must be a multiple of what all threads cover at once
#include <tilewright/distribution/copy_distribution.hpp>

constexpr auto rows = tilewright::make_copy_distribution<48, 32, float, 256>();
