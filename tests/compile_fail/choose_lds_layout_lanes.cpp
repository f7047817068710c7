// SPDX-License-Identifier: MIT
// A layout for waves of 64 lanes on a target with waves of 32.
// EXPECT: the distribution has more lanes than a wave of the target
#include <tilewright/arch/sm90.hpp>
#include <tilewright/distribution/distribution_pattern.hpp>
#include <tilewright/lds/layout_solver.hpp>

namespace tw = tilewright;

constexpr tw::lds_use use{tw::make_pattern_encoding(tw::tile_distribution_pattern::block_raked, {64, 64, 8, 1, 64}),
                          tw::lds_access_kind::write};
constexpr auto choice = tw::choose_lds_layout<tw::arch::sm90>(tw::lds_tile{64, 64, 2}, use);
