// SPDX-License-Identifier: MIT
// Slices that are not inside of their dimension.
// EXPECT: slice: it begins before the dimension
// EXPECT: slice: it ends before it begins, or holds nothing
// EXPECT: slice: it ends after the dimension
// EXPECT: slice: begin and end must be number<N>{} or an integer
#include <tilewright/transform/apply.hpp>

namespace tw = tilewright;

constexpr auto early = tw::make_slice_transform(tw::number<8>{}, tw::number<-1>{}, 4);
constexpr auto empty = tw::make_slice_transform(8, tw::number<4>{}, tw::number<4>{});
constexpr auto late = tw::make_slice_transform(tw::number<8>{}, 4, tw::number<9>{});
constexpr auto word = tw::make_slice_transform(tw::number<8>{}, 4, "end");
