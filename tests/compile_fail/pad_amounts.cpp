// SPDX-License-Identifier: MIT
// Pads of a word, of less than nothing, and beyond 32 bits.
// EXPECT: pad: how much to add must be number<N>{} or an integer
// EXPECT: pad: a tensor cannot be padded by less than nothing; use make_slice_transform to make it smaller
// EXPECT: pad: the padded length does not fit into 32 bits
#include <tilewright/transform/apply.hpp>

namespace tw = tilewright;

constexpr auto word = tw::make_left_pad_transform(8, "two");
constexpr auto less = tw::make_right_pad_transform(8, tw::number<-2>{});
constexpr auto huge = tw::make_pad_transform(tw::number<2147483640>{}, tw::number<4>{}, tw::number<4>{});
