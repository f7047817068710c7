// SPDX-License-Identifier: MIT
// 32 rows read from a layout of 16.
// EXPECT: analyze_lds_access: the distribution's tile is longer than the layout; distribute a tile that fits
#include <tilewright/arch/gfx942.hpp>
#include <tilewright/descriptor/make_descriptor.hpp>
#include <tilewright/distribution/lane_map_encoding.hpp>
#include <tilewright/lds/lds_access.hpp>

namespace tw = tilewright;
using namespace tilewright::arch;

const auto rows = tw::make_naive_tensor_descriptor_packed(tw::make_tuple(tw::number<16>{}, tw::number<64>{}));
using operand = tw::tile_distribution<tw::encoding_of(describe(matrix_op::mfma_32x32x8_x2).a)>;
const auto result = tw::analyze_lds_access<gfx942>(rows, operand{}, 2, tw::lds_access_kind::read);
