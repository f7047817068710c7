// SPDX-License-Identifier: MIT
// The concept prints the degree, where the compiler prints values.
// EXPECT(clang): (8 == 1) evaluated to false
// EXPECT(gcc): constraints not satisfied
// EXPECT(gcc): worst_degree == 1
#include <tilewright/arch/gfx942.hpp>
#include <tilewright/descriptor/make_descriptor.hpp>
#include <tilewright/distribution/lane_map_encoding.hpp>
#include <tilewright/lds/lds_proof.hpp>

namespace tw = tilewright;
using namespace tilewright::arch;

constexpr auto plain = tw::make_naive_tensor_descriptor_packed(tw::make_tuple(tw::number<32>{}, tw::number<64>{}));
using operand = tw::tile_distribution<tw::encoding_of(describe(matrix_op::mfma_32x32x8_x2).a)>;
static_assert(tw::ConflictFree<tw::lds_access<gfx942, plain, operand, short, tw::lds_access_kind::read>>);
