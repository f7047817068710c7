// SPDX-License-Identifier: MIT
// Distributions from patterns.
#include <tilewright/core/distribution/distribution_pattern.hpp>

namespace tw = tilewright;

// 96 threads in waves of 64.
// EXPECT: tile_distribution_encoding_pattern_2d: the block must be a multiple of the wave; give both in threads
constexpr auto block = tw::tile_distribution_encoding_pattern_2d<
    96, 64, 32, 8, tw::tile_distribution_pattern::warp_raked>::make_2d_static_tile_distribution();

// Two waves in three groups.
// EXPECT: tile_distribution_encoding_pattern_2d: the number of waves must be a multiple of the number of wave groups
constexpr auto groups =
    tw::tile_distribution_encoding_pattern_2d<128, 64, 32, 8, tw::tile_distribution_pattern::warp_raked,
                                              3>::make_2d_static_tile_distribution();

// Vectors of nothing.
// EXPECT: tile_distribution_encoding_pattern_2d: rows, columns, vector and wave groups must be positive
constexpr auto positive = tw::tile_distribution_encoding_pattern_2d<
    128, 64, 32, 0, tw::tile_distribution_pattern::warp_raked>::make_2d_static_tile_distribution();

// 48 rows, of which two waves cover 32 at once.
// EXPECT: tile_distribution_encoding_pattern_2d: the rows must be a multiple of those that all waves cover at once
constexpr auto rows = tw::tile_distribution_encoding_pattern_2d<
    128, 48, 32, 8, tw::tile_distribution_pattern::warp_raked>::make_2d_static_tile_distribution();

// 48 rows, of which two waves cover 32 at once.
// EXPECT(clang): copy_cannot_be_divided
// EXPECT(gcc 5): copy_cannot_be_divided
constexpr tw::distribution_encoding e = tw::make_pattern_encoding(
    tw::tile_distribution_pattern::warp_raked, {.rows = 48, .cols = 32, .vector = 8, .waves = 2, .wave_size = 64});

// Rows of 36 in vectors of 8.
// EXPECT: tile_distribution_encoding_pattern_2d: a row must be a multiple of the vector
constexpr auto vector = tw::tile_distribution_encoding_pattern_2d<
    128, 64, 36, 8, tw::tile_distribution_pattern::warp_raked>::make_2d_static_tile_distribution();
