// SPDX-License-Identifier: MIT
// Index 6 of a dimension of length 6: the message has both.
// EXPECT: tensor transforms: a transform reaches beyond the end of the dimension it is applied to
// EXPECT(gcc): the comparison reduces to '(6 >= 7)'
// EXPECT(clang): static assertion failed due to requirement '6 >= 7'
#include <tilewright/descriptor/transform_descriptor.hpp>

namespace tw = tilewright;

constexpr auto base = tw::make_naive_tensor_descriptor_packed(tw::make_tuple(tw::number<4>{}, tw::number<6>{}));
constexpr auto d = tw::transform_tensor_descriptor(
    base, tw::make_tuple(tw::make_pass_through_transform(tw::number<4>{}), tw::make_freeze_transform(tw::number<6>{})),
    tw::make_tuple(tw::sequence<0>{}, tw::sequence<1>{}), tw::make_tuple(tw::sequence<0>{}, tw::sequence<>{}));
