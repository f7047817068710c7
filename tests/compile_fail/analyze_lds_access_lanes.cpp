// SPDX-License-Identifier: MIT
// The conflicts of 64 lanes on a target whose waves have 32.
// EXPECT: analyze_lds_access: the distribution has more lanes than a wave of the target
#include <tilewright/arch/gfx12.hpp>
#include <tilewright/descriptor/make_descriptor.hpp>
#include <tilewright/distribution/lane_map_encoding.hpp>
#include <tilewright/lds/lds_access.hpp>

namespace tw = tilewright;
using namespace tilewright::arch;

const auto rows = tw::make_naive_tensor_descriptor_packed(tw::make_tuple(tw::number<32>{}, tw::number<64>{}));
using operand = tw::tile_distribution<tw::encoding_of(describe(matrix_op::mfma_32x32x8_x2).a)>;
const auto result = tw::analyze_lds_access<gfx1201>(rows, operand{}, 2, tw::lds_access_kind::read);
