// SPDX-License-Identifier: MIT
// Two top dimensions below one bottom dimension, and a length of 6 below one of 8.
// EXPECT: chain_tensor_adaptors: the lower adaptor needs as many top dimensions as the upper one has bottom dimensions
// EXPECT: tensor transforms: the length given to a transform is not the length of the dimension it is applied to
#include <tilewright/descriptor/transform_descriptor.hpp>

namespace tw = tilewright;

constexpr auto pair = tw::make_single_stage_tensor_adaptor(
    tw::make_tuple(tw::make_unmerge_transform(tw::make_tuple(tw::number<4>{}, tw::number<6>{}))),
    tw::make_tuple(tw::sequence<0>{}), tw::make_tuple(tw::sequence<0, 1>{}));
constexpr auto merged = tw::make_single_stage_tensor_adaptor(
    tw::make_tuple(tw::make_merge_transform(tw::make_tuple(tw::number<4>{}, tw::number<8>{}))),
    tw::make_tuple(tw::sequence<0, 1>{}), tw::make_tuple(tw::sequence<0>{}));
constexpr auto count = tw::chain_tensor_adaptors(pair, pair);
constexpr auto length = tw::chain_tensor_adaptors(pair, merged);
