// SPDX-License-Identifier: MIT
// New dimensions 0 and 2.
// EXPECT: tensor transforms: the upper dimension ids must be 0, 1, ... with each used once
#include <tilewright/descriptor/transform_descriptor.hpp>

namespace tw = tilewright;

constexpr auto base = tw::make_naive_tensor_descriptor_packed(tw::make_tuple(tw::number<4>{}, tw::number<6>{}));
constexpr auto d = tw::transform_tensor_descriptor(
    base,
    tw::make_tuple(tw::make_pass_through_transform(tw::number<4>{}), tw::make_pass_through_transform(tw::number<6>{})),
    tw::make_tuple(tw::sequence<0>{}, tw::sequence<1>{}), tw::make_tuple(tw::sequence<0>{}, tw::sequence<2>{}));
