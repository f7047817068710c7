// SPDX-License-Identifier: MIT
// A window of 64 rows of a tile of 96: its parts have 32.
// EXPECT: a window of this tile has more rows than the largest power of two that divides the tile's
#include <tilewright/arch/gfx942.hpp>
#include <tilewright/distribution/distribution_pattern.hpp>
#include <tilewright/lds/layout_solver.hpp>

namespace tw = tilewright;

constexpr tw::lds_use use{tw::make_pattern_encoding(tw::tile_distribution_pattern::block_raked, {64, 8, 8, 1, 64}),
                          tw::lds_access_kind::write};
constexpr auto choice = tw::choose_lds_layout<tw::arch::gfx942>(tw::lds_tile{96, 64, 2}, use);
