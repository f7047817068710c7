// SPDX-License-Identifier: MIT
// Elements of 12 bytes.
// EXPECT: make_static_distributed_lds_tensor: elements have 1, 2, 4, 8 or 16 bytes
#include <tilewright/tile/static_distributed_lds_tensor.hpp>

namespace tw = tilewright;
using tw::number, tw::make_tuple;

struct three_floats {
  float x, y, z;
};
using lanes = tw::tile_distribution<
    tw::tile_distribution_encoding<tw::sequence<>, tw::tuple<tw::sequence<64>>, tw::tuple<tw::sequence<1>>,
                                   tw::tuple<tw::sequence<0>>, tw::sequence<>, tw::sequence<>>::value>;
auto f(tw::exec::lds_pointer p) { return tw::make_static_distributed_lds_tensor<three_floats>(p, lanes{}); }
