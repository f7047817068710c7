// SPDX-License-Identifier: MIT
// An unmerge into two dimensions that is given one.
// EXPECT: tensor transforms: a transform makes another number of upper dimensions than its sequence lists
#include <tilewright/descriptor/transform_descriptor.hpp>

namespace tw = tilewright;

constexpr auto base = tw::make_naive_tensor_descriptor_packed(tw::make_tuple(tw::number<4>{}, tw::number<6>{}));
constexpr auto d = tw::transform_tensor_descriptor(
    base,
    tw::make_tuple(tw::make_unmerge_transform(tw::make_tuple(tw::number<2>{}, tw::number<2>{})),
                   tw::make_pass_through_transform(tw::number<6>{})),
    tw::make_tuple(tw::sequence<0>{}, tw::sequence<1>{}), tw::make_tuple(tw::sequence<0>{}, tw::sequence<1>{}));
