// SPDX-License-Identifier: MIT
// A block of one and a half base tiles.
// EXPECT: base_tile: the block must be a whole number of base tiles in both dimensions
#include <tilewright/distribution/base_tile.hpp>

namespace tw = tilewright;

constexpr auto layout = tw::base_tile<float, 4, 8>::make_lds_descriptor<6, 32>();
