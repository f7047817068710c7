// SPDX-License-Identifier: MIT
// LDS layouts that the library finds.
#include <tilewright/core/arch/gfx942.hpp>
#include <tilewright/core/arch/sm90.hpp>
#include <tilewright/core/distribution/distribution_pattern.hpp>
#include <tilewright/core/lds/layout_solver.hpp>

namespace tw = tilewright;

// A layout for waves of 64 lanes on a target with waves of 32.
// EXPECT: the distribution has more lanes than a wave of the target
constexpr tw::lds_use lanes_use{
    tw::make_pattern_encoding(tw::tile_distribution_pattern::block_raked, {64, 64, 8, 1, 64}),
    tw::lds_access_kind::write};
constexpr auto lanes_choice = tw::choose_lds_layout<tw::arch::sm90>(tw::lds_tile{64, 64, 2}, lanes_use);

// A window of 64 rows of a tile of 96: its parts have 32.
// EXPECT: a window of this tile has more rows than the largest power of two that divides the tile's
constexpr tw::lds_use window_use{
    tw::make_pattern_encoding(tw::tile_distribution_pattern::block_raked, {64, 8, 8, 1, 64}),
    tw::lds_access_kind::write};
constexpr auto window_choice = tw::choose_lds_layout<tw::arch::gfx942>(tw::lds_tile{96, 64, 2}, window_use);
