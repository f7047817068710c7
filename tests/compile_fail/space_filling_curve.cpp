// SPDX-License-Identifier: MIT
// Space-filling curves.
#include <tilewright/core/distribution/space_filling_curve.hpp>

namespace tw = tilewright;
using tw::number, tw::sequence, tw::space_filling_curve;

// Access 24 of 24.
// EXPECT: space_filling_curve: there is no such access
auto access = space_filling_curve<2, sequence<4, 6>, sequence<0, 1>, sequence<1, 1>>::get_index(number<24>{});

// An access before the first.
// EXPECT: space_filling_curve: there is no such access
auto access_negative = space_filling_curve<2, sequence<4, 6>, sequence<0, 1>, sequence<1, 1>>::get_index(number<-1>{});

// Backward from the first access.
// EXPECT: space_filling_curve: the step leads past the first or the last access
auto backward_step =
    space_filling_curve<2, sequence<4, 6>, sequence<0, 1>, sequence<1, 1>>::get_backward_step(number<0>{});

// Three lengths for two dimensions.
// EXPECT: space_filling_curve: lengths, order and scalars per access need one entry for each dimension
auto entries = space_filling_curve<2, sequence<4, 8, 2>, sequence<0, 1>, sequence<1, 1>>::get_num_of_access();

// Forward from the last access.
// EXPECT(3): space_filling_curve: the step leads past the first or the last access
auto forward_step =
    space_filling_curve<2, sequence<4, 6>, sequence<0, 1>, sequence<1, 1>>::get_forward_step(number<23>{});

// A dimension of no elements, and an access of none.
// EXPECT: space_filling_curve: lengths must be positive
// EXPECT: space_filling_curve: scalars per access must be positive
auto lengths_n = space_filling_curve<2, sequence<0, 8>, sequence<0, 1>, sequence<1, 4>>::get_num_of_access();
auto lengths_m = space_filling_curve<2, sequence<4, 8>, sequence<0, 1>, sequence<1, 0>>::get_num_of_access();

// Orders that forget a dimension, and that name one that does not exist.
// EXPECT(3): space_filling_curve: the access order must list each dimension once
// EXPECT(clang 3): requirement 'is_order_complete': space_filling_curve
auto l = space_filling_curve<2, sequence<4, 8>, sequence<0, 0>, sequence<1, 1>>::get_num_of_access();
auto order_m = space_filling_curve<2, sequence<4, 8>, sequence<0, 2>, sequence<1, 1>>::get_num_of_access();
auto order_n = space_filling_curve<2, sequence<4, 8>, sequence<-1, 1>, sequence<1, 1>>::get_num_of_access();

// A number instead of a list of lengths.
// EXPECT: space_filling_curve: the number of dimensions, then lengths, order and scalars per access as sequence<...>s
auto parameters = space_filling_curve<2, number<4>, sequence<0, 1>, sequence<1, 1>>{};

// To an access that does not exist.
// EXPECT: space_filling_curve: the step leads past the first or the last access
auto step_between =
    space_filling_curve<2, sequence<4, 6>, sequence<0, 1>, sequence<1, 1>>::get_step_between(number<3>{}, number<24>{});
