// SPDX-License-Identifier: MIT
// A row with fewer vectors than the block has threads.
// EXPECT: make_row_distribution: a row must be a multiple of the block's vectors, threads x 16 bytes
#include <tilewright/distribution/copy_distribution.hpp>

constexpr auto rows = tilewright::make_row_distribution<2, 512, float, 256>();
