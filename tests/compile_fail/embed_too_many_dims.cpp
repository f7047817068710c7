// SPDX-License-Identifier: MIT
// Eight lengths and eight strides are more parameters than a transform holds.
// EXPECT: transform: too many dimensions; split it in two
#include <tilewright/transform/apply.hpp>

namespace tw = tilewright;

constexpr auto t =
    tw::make_embed_transform(tw::make_tuple(2, 2, 2, 2, 2, 2, 2, 2), tw::make_tuple(1, 1, 1, 1, 1, 1, 1, 1));
