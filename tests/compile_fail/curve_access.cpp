// SPDX-License-Identifier: MIT
// Access 24 of 24.
// EXPECT: space_filling_curve: there is no such access
#include <tilewright/distribution/space_filling_curve.hpp>

namespace tw = tilewright;

auto index =
    tw::space_filling_curve<2, tw::sequence<4, 6>, tw::sequence<0, 1>, tw::sequence<1, 1>>::get_index(tw::number<24>{});
