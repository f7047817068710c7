// SPDX-License-Identifier: MIT
// Conversions of numbers.
#include <tilewright/core/base/bits.hpp>
#include <tilewright/core/base/types.hpp>

namespace tw = tilewright;

// Bits of another size.
// EXPECT: bit_cast: the types differ in size
auto bit_cast_size = tw::bit_cast<float>(1.0);

// A pair of numbers that have no paired conversion.
// EXPECT: convert_pair: the result is a pair of half_t, bfloat16_t or 8-bit floats
const auto pair = tilewright::convert_pair<float>(1.0f, 2.0f);
