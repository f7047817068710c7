// SPDX-License-Identifier: MIT
// Analyses of LDS accesses.
#include <tilewright/core/arch/gfx12.hpp>
#include <tilewright/core/arch/gfx942.hpp>
#include <tilewright/core/descriptor/make_descriptor.hpp>
#include <tilewright/core/distribution/lane_map_encoding.hpp>
#include <tilewright/core/lds/lds_access.hpp>

namespace tw = tilewright;
using tw::number;
using namespace tilewright::arch;

using operand = tw::tile_distribution<tw::encoding_of(describe(matrix_op::mfma_32x32x8_x2).a)>;

// The conflicts of 64 lanes on a target whose waves have 32.
// EXPECT: analyze_lds_access: the distribution has more lanes than a wave of the target
const auto lanes_rows = tw::make_naive_tensor_descriptor_packed(tw::make_tuple(number<32>{}, number<64>{}));
const auto lanes_result = tw::analyze_lds_access<gfx1201>(lanes_rows, operand{}, 2, tw::lds_access_kind::read);

// 32 rows read from a layout of 16.
// EXPECT: analyze_lds_access: the distribution's tile is longer than the layout; distribute a tile that fits
const auto tile_rows = tw::make_naive_tensor_descriptor_packed(tw::make_tuple(number<16>{}, number<64>{}));
const auto tile_result = tw::analyze_lds_access<gfx942>(tile_rows, operand{}, 2, tw::lds_access_kind::read);
