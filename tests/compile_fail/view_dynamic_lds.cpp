// SPDX-License-Identifier: MIT
// A tensor in LDS whose length is known only at run time.
// EXPECT: tensor_view: a tensor in LDS needs lengths and strides known at compile time
#include <tilewright/tile/tensor_view.hpp>

namespace tw = tilewright;

auto v = tw::make_tensor_view<tw::address_space_enum::lds, float>(
    tw::exec::lds_pointer{}, tw::make_naive_tensor_descriptor_packed(tw::make_tuple(4)));
