// SPDX-License-Identifier: MIT
// Lengths that are none.
// EXPECT: transform: a length must be number<N>{} or an integer
// EXPECT: transform: a length must be number<N>{} or an integer
// EXPECT: transform: a length must be at least 1
// EXPECT: 4294967300
#include <tilewright/transform/apply.hpp>

namespace tw = tilewright;

constexpr auto word = tw::make_pass_through_transform("eight");
constexpr auto nothing = tw::make_cyclic_shift_transform(tw::make_tuple(8, tw::number<0>{}));
constexpr auto fraction = tw::make_pass_through_transform(2.5f);
constexpr auto too_long = tw::make_pass_through_transform(tw::number<4294967300>{});
