// SPDX-License-Identifier: MIT
// An offset that is a word.
// EXPECT: offset: the offset must be number<N>{} or an integer
#include <tilewright/transform/apply.hpp>

namespace tw = tilewright;

constexpr auto word = tw::make_offset_transform(8, "two");
