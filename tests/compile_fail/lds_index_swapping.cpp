// SPDX-License-Identifier: MIT
// CK Tile's swizzled layout.
#include <tilewright/core/arch/arch.hpp>
#include <tilewright/core/base/types.hpp>
#include <tilewright/core/lds/layout_presets.hpp>

namespace tw = tilewright;

// Rows that are not a whole number of chunks.
// EXPECT: lds_index_swapping: KPerBlock must be a multiple of KPack
// EXPECT: lds_index_swapping: KPerBlock, KPack and MLdsLayer must be powers of two
constexpr auto index_swapping_k_pack = tw::make_lds_index_swapping_descriptor<36, 8, 1, 64, short>();

// Rows that do not fill their last row of banks.
// EXPECT: lds_index_swapping: MPerBlock must be a multiple of MLdsLayer
constexpr auto index_swapping_layer = tw::make_lds_index_swapping_descriptor<32, 8, 2, 63, short>();

// Rows of 24 bytes.
// EXPECT: lds_swapping_config: rows must be a multiple of 16 bytes
const int layer = tw::lds_swapping_config<tw::half_t, 12, tw::arch::gfx942>::MLdsLayer;
