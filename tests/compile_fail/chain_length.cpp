// SPDX-License-Identifier: MIT
// A merge of 4 x 8 on a matrix of 4 x 6: the message has both lengths.
// EXPECT: tensor transforms: the length given to a transform is not the length of the dimension it is applied to
// EXPECT(gcc): the comparison reduces to '(6 == 8)'
// EXPECT(clang): static assertion failed due to requirement '6 == 8'
#include <tilewright/descriptor/transform_descriptor.hpp>

namespace tw = tilewright;

constexpr auto base = tw::make_naive_tensor_descriptor_packed(tw::make_tuple(tw::number<4>{}, tw::number<6>{}));
constexpr auto d = tw::transform_tensor_descriptor(
    base, tw::make_tuple(tw::make_merge_transform(tw::make_tuple(tw::number<4>{}, tw::number<8>{}))),
    tw::make_tuple(tw::sequence<0, 1>{}), tw::make_tuple(tw::sequence<0>{}));
