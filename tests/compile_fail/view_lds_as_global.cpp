// SPDX-License-Identifier: MIT
// A place in LDS for a tensor in global memory.
// EXPECT: make_tensor_view: an lds_pointer points to LDS
#include <tilewright/tile/tensor_view.hpp>

namespace tw = tilewright;

auto v = tw::make_tensor_view<tw::address_space_enum::global, float>(
    tw::exec::lds_pointer{}, tw::make_naive_tensor_descriptor_packed(tw::make_tuple(tw::number<4>{})));
