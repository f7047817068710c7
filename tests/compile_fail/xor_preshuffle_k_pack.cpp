// SPDX-License-Identifier: MIT
// Rows that are no whole number of vectors, and vectors of nothing.
// EXPECT: xor_preshuffle: KPerBlock must be a multiple of KPack
// EXPECT: xor_preshuffle: KPerBlock must be a multiple of KPack
#include <tilewright/ck_tile/xor_preshuffle.hpp>

namespace tw = tilewright;

const int place = tw::xor_preshuffle<60, 8>(1, 2);
const int nowhere = tw::xor_preshuffle<64, 0>(1, 2);
