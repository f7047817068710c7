// SPDX-License-Identifier: MIT
// The length of a dimension that is not there.
// EXPECT: tensor_descriptor: there is no such dimension
#include <tilewright/descriptor/make_descriptor.hpp>

namespace tw = tilewright;

constexpr auto d = tw::make_naive_tensor_descriptor_packed(tw::make_tuple(4, 8));
auto length = d.get_length<2>();
