// SPDX-License-Identifier: MIT
// Rows of 24 bytes.
// EXPECT: lds_swapping_config: rows must be a multiple of 16 bytes
#include <tilewright/arch/arch.hpp>
#include <tilewright/lds/lds_index_swapping.hpp>
#include <tilewright/numeric/types.hpp>

namespace tw = tilewright;

const int layer = tw::lds_swapping_config<tw::half_t, 12, tw::arch::gfx942>::MLdsLayer;
