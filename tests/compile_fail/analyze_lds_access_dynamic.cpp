// SPDX-License-Identifier: MIT
// The conflicts of a layout whose pitch is known only at run time.
// EXPECT: analyze_lds_access: the layout's lengths and strides must be known at compile time
#include <tilewright/arch/gfx942.hpp>
#include <tilewright/descriptor/make_descriptor.hpp>
#include <tilewright/lds/lds_access.hpp>

namespace tw = tilewright;

using distribution =
    tw::tile_distribution<tw::tile_distribution_encoding<tw::sequence<>, tw::tuple<tw::sequence<8>, tw::sequence<8, 4>>,
                                                         tw::tuple<tw::sequence<1, 2>>, tw::tuple<tw::sequence<0, 0>>,
                                                         tw::sequence<2>, tw::sequence<1>>::value>;
const auto layout = tw::make_naive_tensor_descriptor(tw::make_tuple(8, 32), tw::make_tuple(40, tw::number<1>{}));
const auto result = tw::analyze_lds_access<tw::arch::gfx942>(layout, distribution{}, 2, tw::lds_access_kind::read);
