// SPDX-License-Identifier: MIT
// Elements of 32 bytes.
// EXPECT: load_store_traits: an element must fit into one access, of 16 bytes
#include <tilewright/ck_tile/load_store_traits.hpp>

namespace tw = tilewright;

using row = tw::tile_distribution_encoding<tw::sequence<>, tw::tuple<tw::sequence<8, 4>>, tw::tuple<tw::sequence<1>>,
                                           tw::tuple<tw::sequence<0>>, tw::sequence<1>, tw::sequence<1>>;
struct wide {
  double values[4];
};
auto n = tw::load_store_traits<row, wide>::num_access;
