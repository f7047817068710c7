// SPDX-License-Identifier: MIT
// 48 rows, of which two waves cover 32 at once.
// EXPECT: copy_cannot_be_divided
#include <tilewright/distribution/distribution_pattern.hpp>

namespace tw = tilewright;

constexpr tw::distribution_encoding e = tw::make_pattern_encoding(
    tw::tile_distribution_pattern::warp_raked, {.rows = 48, .cols = 32, .vector = 8, .waves = 2, .wave_size = 64});
