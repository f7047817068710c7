// SPDX-License-Identifier: MIT
// A proof about an instruction that the target does not have.
// EXPECT: LDS proof: the target has no LDS instruction of this kind and width
#include <tilewright/arch/gfx942.hpp>
#include <tilewright/descriptor/make_descriptor.hpp>
#include <tilewright/distribution/lane_map_encoding.hpp>
#include <tilewright/lds/lds_proof.hpp>

namespace tw = tilewright;
using namespace tilewright::arch;
using enum tilewright::lds_access_kind;

constexpr auto matrix = tw::make_naive_tensor_descriptor_packed(tw::make_tuple(tw::number<32>{}, tw::number<64>{}));
using operand = tw::tile_distribution<tw::encoding_of(describe(matrix_op::mfma_32x32x8_x2).a)>;
static_assert(tw::require_conflict_free<tw::lds_access<gfx942, matrix, operand, short, ldmatrix>>());
