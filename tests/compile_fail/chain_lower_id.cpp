// SPDX-License-Identifier: MIT
// Dimensions 2 and 256 of a matrix.
// EXPECT: tensor transforms: a lower dimension id is not a dimension of the descriptor
// EXPECT: is_dimension_used_well<2>
// EXPECT: is_dimension_used_well<256>
#include <tilewright/descriptor/transform_descriptor.hpp>

namespace tw = tilewright;

constexpr auto base = tw::make_naive_tensor_descriptor_packed(tw::make_tuple(tw::number<4>{}, tw::number<6>{}));
constexpr auto d = tw::transform_tensor_descriptor(
    base,
    tw::make_tuple(tw::make_pass_through_transform(tw::number<4>{}), tw::make_pass_through_transform(tw::number<6>{})),
    tw::make_tuple(tw::sequence<0>{}, tw::sequence<2>{}), tw::make_tuple(tw::sequence<0>{}, tw::sequence<1>{}));
constexpr auto e = tw::transform_tensor_descriptor(
    base,
    tw::make_tuple(tw::make_pass_through_transform(tw::number<4>{}), tw::make_pass_through_transform(tw::number<6>{})),
    tw::make_tuple(tw::sequence<256>{}, tw::sequence<1>{}), tw::make_tuple(tw::sequence<0>{}, tw::sequence<1>{}));
