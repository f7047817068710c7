// SPDX-License-Identifier: MIT
// A proof for gfx90a that may rest on evidence only: that target's rows are inferred.
// COMPILERS: also nvcc
// EXPECT: LDS proof: the table's row for this instruction is inferred or unknown
// EXPECT: known_by<
#include <tilewright/arch/gfx90a.hpp>
#include <tilewright/distribution/lane_map_encoding.hpp>
#include <tilewright/lds/lds_index_swapping.hpp>
#include <tilewright/lds/lds_proof.hpp>

namespace tw = tilewright;
using namespace tilewright::arch;

constexpr auto swizzled = tw::make_lds_index_swapping_descriptor<64, 8, 1, 32, short>();
using operand = tw::tile_distribution<tw::encoding_of(describe(matrix_op::mfma_32x32x8_x2).a)>;
using read = tw::lds_access<gfx90a, swizzled, operand, short, tw::lds_access_kind::read>;
static_assert(tw::require_conflict_free<read>());
static_assert(tw::require_conflict_free<tw::proof_basis::evidence, read>());
