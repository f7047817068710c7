// SPDX-License-Identifier: MIT
// A descriptor of an adaptor with two bottom dimensions: which of them would be memory?
// EXPECT: tensor_descriptor: the adaptor must have one bottom dimension, which is memory
#include <tilewright/descriptor/transform_descriptor.hpp>

namespace tw = tilewright;

constexpr auto pair =
    tw::make_single_stage_tensor_adaptor(tw::make_tuple(tw::make_merge_transform(tw::make_tuple(4, 8))),
                                         tw::make_tuple(tw::sequence<0, 1>{}), tw::make_tuple(tw::sequence<0>{}));
constexpr auto d = tw::make_tensor_descriptor_from_adaptor(pair, 32);
