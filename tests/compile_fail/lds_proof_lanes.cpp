// SPDX-License-Identifier: MIT
// The operand of an instruction for waves of 64 lanes, on a target whose waves have 32.
// EXPECT: LDS proof: the distribution has more lanes than a wave of the target
// EXPECT: value_and_limit<64, 32>
#include <tilewright/arch/gfx12.hpp>
#include <tilewright/descriptor/make_descriptor.hpp>
#include <tilewright/distribution/lane_map_encoding.hpp>
#include <tilewright/lds/lds_proof.hpp>

namespace tw = tilewright;
using namespace tilewright::arch;

constexpr auto plain = tw::make_naive_tensor_descriptor_packed(tw::make_tuple(tw::number<32>{}, tw::number<64>{}));
using operand = tw::tile_distribution<tw::encoding_of(describe(matrix_op::mfma_32x32x8_x2).a)>;
static_assert(tw::require_conflict_free<tw::lds_access<gfx1201, plain, operand, short, tw::lds_access_kind::read>>());
