// SPDX-License-Identifier: MIT
// No modulus.
// EXPECT: modulo: the modulus must be positive
// EXPECT: modulo: the modulus must be number<N>{} or an integer
#include <tilewright/transform/apply.hpp>

namespace tw = tilewright;

constexpr auto zero = tw::make_modulo_transform(tw::number<0>{}, 8);
constexpr auto word = tw::make_modulo_transform("four", 8);
