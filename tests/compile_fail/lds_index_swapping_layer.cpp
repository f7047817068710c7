// SPDX-License-Identifier: MIT
// Rows that do not fill their last row of banks.
// EXPECT: lds_index_swapping: MPerBlock must be a multiple of MLdsLayer
#include <tilewright/lds/lds_index_swapping.hpp>

namespace tw = tilewright;

constexpr auto d = tw::make_lds_index_swapping_descriptor<32, 8, 2, 63, short>();
