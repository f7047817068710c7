// SPDX-License-Identifier: MIT
// Eleven bottom dimensions.
// EXPECT: make_single_stage_tensor_adaptor: too many bottom dimensions
#include <tilewright/descriptor/transform_descriptor.hpp>

namespace tw = tilewright;

constexpr tw::number<2> two{};
constexpr auto six = tw::make_merge_transform(tw::make_tuple(two, two, two, two, two, two));
constexpr auto five = tw::make_merge_transform(tw::make_tuple(two, two, two, two, two));
constexpr auto d = tw::make_single_stage_tensor_adaptor(
    tw::make_tuple(six, five), tw::make_tuple(tw::sequence<0, 1, 2, 3, 4, 5>{}, tw::sequence<6, 7, 8, 9, 10>{}),
    tw::make_tuple(tw::sequence<0>{}, tw::sequence<1>{}));
