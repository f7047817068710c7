// SPDX-License-Identifier: MIT
// 48 rows, of which two waves cover 32 at once.
// EXPECT: tile_distribution_encoding_pattern_2d: the rows must be a multiple of those that all waves cover at once
#include <tilewright/distribution/distribution_pattern.hpp>

namespace tw = tilewright;

constexpr auto distribution = tw::tile_distribution_encoding_pattern_2d<
    128, 48, 32, 8, tw::tile_distribution_pattern::warp_raked>::make_2d_static_tile_distribution();
