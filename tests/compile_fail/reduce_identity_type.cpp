// SPDX-License-Identifier: MIT
// The least double.
// EXPECT: reduce_max: combine floats or ints
#include <tilewright/tile/reduce_tile.hpp>

namespace tw = tilewright;

const double least = tw::reduce_max::identity<double>();
