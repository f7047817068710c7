// SPDX-License-Identifier: MIT
// Tables that do not fit.
// EXPECT: indexing: the length must be known at compile time: number<4>{}
// EXPECT: indexing: as many indices as the length says are needed
// EXPECT: indexing: at most 15 indices; look up more of them in a make_functor_transform
// EXPECT: indexing: an index must be number<N>{} or an integer
#include <tilewright/transform/apply.hpp>

namespace tw = tilewright;

constexpr auto length = tw::make_indexing_transform(2, tw::make_tuple(4, 5));
constexpr auto count = tw::make_indexing_transform(tw::number<3>{}, tw::make_tuple(4, 5));
constexpr auto many = tw::make_indexing_transform(tw::number<16>{}, tw::multi_index<16>{});
constexpr auto word = tw::make_indexing_transform(tw::number<2>{}, tw::make_tuple(4, "five"));
