// SPDX-License-Identifier: MIT
// Two lengths with one stride.
// EXPECT: embed: as many strides as lengths are needed
#include <tilewright/transform/apply.hpp>

namespace tw = tilewright;

constexpr auto t = tw::make_embed_transform(tw::make_tuple(4, 8), tw::make_tuple(8));
