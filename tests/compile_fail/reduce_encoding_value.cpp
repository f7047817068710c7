// SPDX-License-Identifier: MIT
// A dimension that the tile does not have.
// EXPECT: encoding_cannot_be_reduced
#include <tilewright/distribution/reduce_encoding.hpp>

namespace tw = tilewright;

constexpr tw::distribution_encoding reduced = tw::reduce(tw::distribution_encoding{}, tw::multi_index<1>{{0}});
