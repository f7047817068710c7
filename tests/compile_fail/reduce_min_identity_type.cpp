// SPDX-License-Identifier: MIT
// The largest double.
// EXPECT: reduce_min: combine floats or ints
#include <tilewright/tile/reduce_tile.hpp>

namespace tw = tilewright;

const double largest = tw::reduce_min::identity<double>();
