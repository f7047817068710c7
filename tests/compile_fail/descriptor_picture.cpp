// SPDX-License-Identifier: MIT
// A picture of a descriptor of three dimensions.
// EXPECT: viz::offsets_of: only descriptors of one or two dimensions are drawn
#include <tilewright/core/descriptor/make_descriptor.hpp>
#include <tilewright/viz/descriptor_picture.hpp>

namespace tw = tilewright;
using tw::number;

const auto grid =
    tw::viz::offsets_of(tw::make_naive_tensor_descriptor_packed(tw::make_tuple(number<2>{}, number<3>{}, number<4>{})));
