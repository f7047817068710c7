// SPDX-License-Identifier: MIT
// 96 threads in waves of 64.
// EXPECT: tile_distribution_encoding_pattern_2d: the block must be a multiple of the wave; give both in threads
#include <tilewright/distribution/distribution_pattern.hpp>

namespace tw = tilewright;

constexpr auto distribution = tw::tile_distribution_encoding_pattern_2d<
    96, 64, 32, 8, tw::tile_distribution_pattern::warp_raked>::make_2d_static_tile_distribution();
