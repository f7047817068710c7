// SPDX-License-Identifier: MIT
// Six vectors in a row.
// EXPECT: xor_preshuffle: the vectors of a row must be a power of two, or two of them would share a place
#include <tilewright/ck_tile/xor_preshuffle.hpp>

namespace tw = tilewright;

const int place = tw::xor_preshuffle<48, 8>(1, 2);
