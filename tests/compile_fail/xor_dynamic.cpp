// SPDX-License-Identifier: MIT
// An xor whose permuted length is known only at run time.
// EXPECT: xor: the length of the permuted dimension must be known at compile time: number<8>{}
#include <tilewright/transform/apply.hpp>

namespace tw = tilewright;

constexpr auto t = tw::make_xor_transform(tw::make_tuple(tw::number<32>{}, 8));
