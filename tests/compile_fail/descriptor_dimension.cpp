// SPDX-License-Identifier: MIT
// The length of a dimension that is not there, and an index of three for two dimensions.
// EXPECT: tensor_descriptor: there is no such dimension
// EXPECT: tensor_descriptor: one index is needed for each dimension
#include <tilewright/descriptor/make_descriptor.hpp>

namespace tw = tilewright;

constexpr auto d = tw::make_naive_tensor_descriptor_packed(tw::make_tuple(4, 8));
auto length = d.get_length<2>();
auto offset = d.calculate_offset(tw::make_tuple(1, 2, 3));
