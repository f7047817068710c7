// SPDX-License-Identifier: MIT
// An element that a tuple does not have.
// EXPECT: tuple: the index is past the end
#include <tilewright/core/base/tuple.hpp>

namespace tw = tilewright;

constexpr auto t = tw::make_tuple(1, 2);
auto x = t.get<2>();
