// SPDX-License-Identifier: MIT
// A view of LDS without the type of its elements.
// EXPECT: make_tensor_view: an lds_pointer has no element type; name it after the address space
#include <tilewright/tile/tensor_view.hpp>

namespace tw = tilewright;

auto v = tw::make_tensor_view<tw::address_space_enum::lds>(
    tw::exec::lds_pointer{}, tw::make_naive_tensor_descriptor_packed(tw::make_tuple(tw::number<4>{})));
