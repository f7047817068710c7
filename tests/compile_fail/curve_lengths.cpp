// SPDX-License-Identifier: MIT
// An access of no elements.
// EXPECT: space_filling_curve: lengths and scalars per access must be positive
#include <tilewright/distribution/space_filling_curve.hpp>

namespace tw = tilewright;

auto n = tw::space_filling_curve<2, tw::sequence<4, 8>, tw::sequence<0, 1>, tw::sequence<1, 0>>::get_num_of_access();
