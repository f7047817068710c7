// SPDX-License-Identifier: MIT
// A dimension that no transform takes.
// EXPECT: tensor transforms: a dimension of the descriptor is used by no transform; pass it through or freeze it
#include <tilewright/descriptor/transform_descriptor.hpp>

namespace tw = tilewright;

constexpr auto base = tw::make_naive_tensor_descriptor_packed(tw::make_tuple(tw::number<4>{}, tw::number<6>{}));
constexpr auto d =
    tw::transform_tensor_descriptor(base, tw::make_tuple(tw::make_pass_through_transform(tw::number<4>{})),
                                    tw::make_tuple(tw::sequence<0>{}), tw::make_tuple(tw::sequence<0>{}));
