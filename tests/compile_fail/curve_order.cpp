// SPDX-License-Identifier: MIT
// Orders that forget a dimension, and that name one that does not exist.
// EXPECT: space_filling_curve: the access order must list each dimension once
// EXPECT: space_filling_curve: the access order must list each dimension once
// EXPECT: space_filling_curve: the access order must list each dimension once
// EXPECT(clang): requirement 'is_order_complete': space_filling_curve
#include <tilewright/distribution/space_filling_curve.hpp>

namespace tw = tilewright;

auto l = tw::space_filling_curve<2, tw::sequence<4, 8>, tw::sequence<0, 0>, tw::sequence<1, 1>>::get_num_of_access();
auto m = tw::space_filling_curve<2, tw::sequence<4, 8>, tw::sequence<0, 2>, tw::sequence<1, 1>>::get_num_of_access();
auto n = tw::space_filling_curve<2, tw::sequence<4, 8>, tw::sequence<-1, 1>, tw::sequence<1, 1>>::get_num_of_access();
