// SPDX-License-Identifier: MIT
// Rows that are not a whole number of chunks.
// EXPECT: lds_index_swapping: KPerBlock must be a multiple of KPack
#include <tilewright/lds/lds_index_swapping.hpp>

namespace tw = tilewright;

constexpr auto d = tw::make_lds_index_swapping_descriptor<36, 8, 1, 64, short>();
