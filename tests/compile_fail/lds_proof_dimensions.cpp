// SPDX-License-Identifier: MIT
// A proof about a matrix as if it were a vector.
// EXPECT: LDS proof: the distribution does not fit the layout
#include <tilewright/arch/gfx942.hpp>
#include <tilewright/descriptor/make_descriptor.hpp>
#include <tilewright/distribution/lane_map_encoding.hpp>
#include <tilewright/lds/lds_proof.hpp>

namespace tw = tilewright;
using namespace tilewright::arch;

constexpr auto vector = tw::make_naive_tensor_descriptor_packed(tw::make_tuple(tw::number<2048>{}));
using operand = tw::tile_distribution<tw::encoding_of(describe(matrix_op::mfma_32x32x8_x2).a)>;
static_assert(tw::require_conflict_free<tw::lds_access<gfx942, vector, operand, short, tw::lds_access_kind::read>>());
