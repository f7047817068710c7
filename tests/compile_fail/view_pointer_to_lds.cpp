// SPDX-License-Identifier: MIT
// A plain pointer for a tensor in LDS.
// EXPECT: make_tensor_view: a plain pointer points to global memory
#include <tilewright/tile/tensor_view.hpp>

namespace tw = tilewright;

float data[4];
auto v = tw::make_tensor_view<tw::address_space_enum::lds>(
    data, tw::make_naive_tensor_descriptor_packed(tw::make_tuple(tw::number<4>{})));
