// SPDX-License-Identifier: MIT
// A descriptor of eleven dimensions.
// EXPECT: tensor transforms: more transforms or dimensions than a descriptor holds
#include <tilewright/descriptor/transform_descriptor.hpp>

namespace tw = tilewright;

constexpr tw::number<2> two{};
constexpr auto base = tw::make_naive_tensor_descriptor_packed(tw::make_tuple(tw::number<64>{}, tw::number<32>{}));
constexpr auto d = tw::transform_tensor_descriptor(
    base,
    tw::make_tuple(tw::make_unmerge_transform(tw::make_tuple(two, two, two, two, two, two)),
                   tw::make_unmerge_transform(tw::make_tuple(two, two, two, two, two))),
    tw::make_tuple(tw::sequence<0>{}, tw::sequence<1>{}),
    tw::make_tuple(tw::sequence<0, 1, 2, 3, 4, 5>{}, tw::sequence<6, 7, 8, 9, 10>{}));
