// SPDX-License-Identifier: MIT
// Two waves in three groups.
// EXPECT: tile_distribution_encoding_pattern_2d: the number of waves must be a multiple of the number of wave groups
#include <tilewright/distribution/distribution_pattern.hpp>

namespace tw = tilewright;

constexpr auto distribution =
    tw::tile_distribution_encoding_pattern_2d<128, 64, 32, 8, tw::tile_distribution_pattern::warp_raked,
                                              3>::make_2d_static_tile_distribution();
