// SPDX-License-Identifier: MIT
// Bits of another size.
// EXPECT: bit_cast: the types differ in size
#include <tilewright/numeric/bits.hpp>

namespace tw = tilewright;

auto x = tw::bit_cast<float>(1.0);
