// SPDX-License-Identifier: MIT
// A dimension of no elements, and an access of none.
// EXPECT: space_filling_curve: lengths must be positive
// EXPECT: space_filling_curve: scalars per access must be positive
#include <tilewright/distribution/space_filling_curve.hpp>

namespace tw = tilewright;

auto n = tw::space_filling_curve<2, tw::sequence<0, 8>, tw::sequence<0, 1>, tw::sequence<1, 4>>::get_num_of_access();
auto m = tw::space_filling_curve<2, tw::sequence<4, 8>, tw::sequence<0, 1>, tw::sequence<1, 0>>::get_num_of_access();
