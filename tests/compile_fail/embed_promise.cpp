// SPDX-License-Identifier: MIT
// A promise that means nothing.
// EXPECT: embed: the promised divisor must be positive
#include <tilewright/transform/apply.hpp>

namespace tw = tilewright;

constexpr auto t = tw::make_embed_transform(tw::make_tuple(4), tw::make_tuple(1), tw::number<-1>{});
