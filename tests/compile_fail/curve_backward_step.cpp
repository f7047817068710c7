// SPDX-License-Identifier: MIT
// Backward from the first access.
// EXPECT: space_filling_curve: the step leads past the first or the last access
#include <tilewright/distribution/space_filling_curve.hpp>

namespace tw = tilewright;

auto step = tw::space_filling_curve<2, tw::sequence<4, 6>, tw::sequence<0, 1>, tw::sequence<1, 1>>::get_backward_step(
    tw::number<0>{});
