// SPDX-License-Identifier: MIT
// Vectors of nothing.
// EXPECT: tile_distribution_encoding_pattern_2d: rows, columns, vector and wave groups must be positive
#include <tilewright/distribution/distribution_pattern.hpp>

namespace tw = tilewright;

constexpr auto distribution = tw::tile_distribution_encoding_pattern_2d<
    128, 64, 32, 0, tw::tile_distribution_pattern::warp_raked>::make_2d_static_tile_distribution();
