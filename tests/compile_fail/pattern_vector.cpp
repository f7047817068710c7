// SPDX-License-Identifier: MIT
// Rows of 36 in vectors of 8.
// EXPECT: tile_distribution_encoding_pattern_2d: a row must be a multiple of the vector
#include <tilewright/distribution/distribution_pattern.hpp>

namespace tw = tilewright;

constexpr auto distribution = tw::tile_distribution_encoding_pattern_2d<
    128, 64, 36, 8, tw::tile_distribution_pattern::warp_raked>::make_2d_static_tile_distribution();
