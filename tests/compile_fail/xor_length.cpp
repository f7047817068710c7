// SPDX-License-Identifier: MIT
// XOR within 6 columns would put two of them into one place.
// EXPECT: xor: the length of the permuted dimension must be a power of two; otherwise two indices meet in one place
#include <tilewright/transform/apply.hpp>

namespace tw = tilewright;

constexpr auto t = tw::make_xor_transform(tw::make_tuple(tw::number<8>{}, tw::number<6>{}));
