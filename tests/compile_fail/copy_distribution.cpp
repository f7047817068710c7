// SPDX-License-Identifier: MIT
// Distributions for copies.
#include <tilewright/core/distribution/copy_distribution.hpp>

// Elements of 12 bytes.
// EXPECT: make_copy_distribution: elements have 1, 2, 4, 8 or 16 bytes
struct three {
  float x, y, z;
};

constexpr auto copy_distribution_element = tilewright::make_copy_distribution<64, 32, three, 256>();

// A copy whose block covers 32 rows at once, of 48 rows.
// EXPECT: make_copy_distribution: the other length must be a multiple of what all threads cover at once
constexpr auto copy_distribution_rows = tilewright::make_copy_distribution<48, 32, float, 256>();

// A block of one wave and a half.
// EXPECT: make_copy_distribution: lengths and threads must be positive, and threads a multiple of the wave size
constexpr auto copy_distribution_threads = tilewright::make_copy_distribution<48, 32, float, 96>();

// Rows of 24 bytes.
// EXPECT: make_copy_distribution: the contiguous length must be a multiple of the vector (16 bytes)
constexpr auto copy_distribution_vector = tilewright::make_copy_distribution<256, 6, float, 256>();

// A row with fewer vectors than the block has threads.
// EXPECT: make_row_distribution: a row must be a multiple of the block's vectors, threads x 16 bytes
constexpr auto row_distribution = tilewright::make_row_distribution<2, 512, float, 256>();
