// SPDX-License-Identifier: MIT
// A promise of run time, a stride that is a word.
// EXPECT: embed: the promised divisor must be known at compile time: number<8>{}
// EXPECT: embed: a stride must be number<N>{} or an integer
#include <tilewright/transform/apply.hpp>

namespace tw = tilewright;

constexpr auto promise = tw::make_embed_transform(tw::make_tuple(4), tw::make_tuple(1), 8);
constexpr auto word = tw::make_embed_transform(tw::make_tuple(4, 8), tw::make_tuple(8, "one"));
