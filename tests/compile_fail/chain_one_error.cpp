// SPDX-License-Identifier: MIT
// A refused layer under three more: the compiler says what is wrong with it, and nothing about the layers above.
// EXPECT: tensor transforms: the length given to a transform is not the length of the dimension it is applied to
// EXPECT_ERRORS: 1
#include <tilewright/core/descriptor/transform_descriptor.hpp>

namespace tw = tilewright;
using tw::make_tuple, tw::number, tw::sequence;

constexpr auto base = tw::make_naive_tensor_descriptor_packed(make_tuple(number<4>{}, number<6>{}));
constexpr auto refused = tw::transform_tensor_descriptor(
    base,
    make_tuple(tw::make_pass_through_transform(number<4>{}),
               tw::make_unmerge_transform(make_tuple(number<4>{}, number<2>{}))),
    make_tuple(sequence<0>{}, sequence<1>{}), make_tuple(sequence<0>{}, sequence<1, 2>{}));
constexpr auto swizzled = tw::transform_tensor_descriptor(
    refused,
    make_tuple(tw::make_xor_transform(make_tuple(number<4>{}, number<4>{})),
               tw::make_pass_through_transform(number<2>{})),
    make_tuple(sequence<0, 1>{}, sequence<2>{}), make_tuple(sequence<0, 1>{}, sequence<2>{}));
constexpr auto merged = tw::transform_tensor_descriptor(
    swizzled, make_tuple(tw::make_merge_transform(make_tuple(number<4>{}, number<4>{}, number<2>{}))),
    make_tuple(sequence<0, 1, 2>{}), make_tuple(sequence<0>{}));
constexpr auto sliced = tw::transform_tensor_descriptor(
    merged, make_tuple(tw::make_slice_transform(number<32>{}, number<8>{}, number<16>{})), make_tuple(sequence<0>{}),
    make_tuple(sequence<0>{}));
