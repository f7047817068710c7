// SPDX-License-Identifier: MIT
// Three lengths for two dimensions.
// EXPECT: space_filling_curve: lengths, order and scalars per access need one entry for each dimension
#include <tilewright/distribution/space_filling_curve.hpp>

namespace tw = tilewright;

auto n = tw::space_filling_curve<2, tw::sequence<4, 8, 2>, tw::sequence<0, 1>, tw::sequence<1, 1>>::get_num_of_access();
