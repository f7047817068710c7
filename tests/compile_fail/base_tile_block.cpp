// SPDX-License-Identifier: MIT
// A block of one and a half base tiles, and blocks of none.
// EXPECT: base_tile: the block must be a whole number of base tiles in both dimensions
// EXPECT: base_tile: the block must be a whole number of base tiles in both dimensions
// EXPECT: base_tile: the block must be a whole number of base tiles in both dimensions
#include <tilewright/ck_tile/base_tile.hpp>

namespace tw = tilewright;

constexpr auto half = tw::base_tile<float, 4, 8>::make_lds_descriptor<6, 32>();
constexpr auto no_rows = tw::base_tile<float, 4, 8>::make_lds_descriptor<0, 32>();
constexpr auto no_columns = tw::base_tile<float, 4, 8>::make_lds_descriptor<4, 0>();
