// SPDX-License-Identifier: MIT
// Vectors that a distribution decides, and their cache lines.
#include <tilewright/compat/ck_tile/load_store_traits.hpp>
#include <tilewright/compat/ck_tile/memory_access_analyzer.hpp>

namespace tw = tilewright;
using tw::sequence;

using row = tw::tile_distribution_encoding<sequence<>, tw::tuple<sequence<8, 4>>, tw::tuple<sequence<1>>,
                                           tw::tuple<sequence<0>>, sequence<1>, sequence<1>>;

// Lengths are no distribution.
// EXPECT: a tile distribution or the encoding of one is needed
auto load_store_traits_distribution = tw::load_store_traits<sequence<4, 8>, float>::num_access;

// Elements of 32 bytes.
// EXPECT: load_store_traits: an element must fit into one access, of 16 bytes
struct wide {
  double values[4];
};
auto load_store_traits_element = tw::load_store_traits<row, wide>::num_access;

// Cache lines of 40 bytes.
// EXPECT: memory_access_analyzer: a cache line is a multiple of 16 bytes
auto memory_access_line =
    tw::memory_access_analyzer<tw::tile_distribution<row::value>, float, 40>::bandwidth_utilization();
