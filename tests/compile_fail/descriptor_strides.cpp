// SPDX-License-Identifier: MIT
// Two lengths with three strides.
// EXPECT: make_naive_tensor_descriptor: as many strides as lengths are needed
#include <tilewright/descriptor/make_descriptor.hpp>

namespace tw = tilewright;

constexpr auto d = tw::make_naive_tensor_descriptor(tw::make_tuple(4, 8), tw::make_tuple(64, 8, 1));
