// SPDX-License-Identifier: MIT
// An order that leaves out a dimension.
// EXPECT: make_cluster_descriptor: the order must name each dimension once
#include <tilewright/descriptor/transform_descriptor.hpp>

namespace tw = tilewright;

constexpr auto d = tw::make_cluster_descriptor(tw::make_tuple(4, 8), tw::sequence<1>{});
