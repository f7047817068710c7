// SPDX-License-Identifier: MIT
// A proof for gfx1201 that may rest on evidence only: its rows for writes are inferred.
// COMPILERS: also nvcc
// EXPECT: LDS proof: the table's row for this instruction is inferred or unknown
// EXPECT: known_by<
#include <tilewright/core/arch/gfx12.hpp>
#include <tilewright/core/distribution/distribution_pattern.hpp>
#include <tilewright/core/lds/layout_presets.hpp>
#include <tilewright/core/lds/lds_proof.hpp>

namespace tw = tilewright;
using namespace tilewright::arch;

constexpr auto swizzled = tw::make_lds_index_swapping_descriptor<64, 8, 1, 32, short>();
using copy =
    tw::tile_distribution<tw::make_pattern_encoding(tw::tile_distribution_pattern::block_raked, {32, 64, 8, 1, 32})>;
using write = tw::lds_access<gfx1201, swizzled, copy, short, tw::lds_access_kind::write>;
static_assert(tw::require_conflict_free<write>());
static_assert(tw::require_conflict_free<tw::proof_basis::evidence, write>());
