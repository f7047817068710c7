// SPDX-License-Identifier: MIT
// Three vectors in a row, which do not divide 64 lanes.
// EXPECT: tile_distribution_encoding_pattern_2d: the vectors of a row must divide the lanes of a wave, or be a multiple of them
#include <tilewright/distribution/distribution_pattern.hpp>

namespace tw = tilewright;

constexpr auto distribution = tw::tile_distribution_encoding_pattern_2d<
    128, 64, 24, 8, tw::tile_distribution_pattern::warp_raked>::make_2d_static_tile_distribution();
