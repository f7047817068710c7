// SPDX-License-Identifier: MIT
// An index before the dimension, and one that is a word.
// EXPECT: freeze: the index must not be negative
// EXPECT: freeze: the index must be number<N>{} or an integer
#include <tilewright/transform/apply.hpp>

namespace tw = tilewright;

constexpr auto before = tw::make_freeze_transform(tw::number<-1>{});
constexpr auto word = tw::make_freeze_transform("first");
