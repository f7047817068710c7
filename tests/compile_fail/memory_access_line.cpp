// SPDX-License-Identifier: MIT
// Cache lines of 40 bytes.
// EXPECT: memory_access_analyzer: a cache line is a multiple of 16 bytes
#include <tilewright/ck_tile/memory_access_analyzer.hpp>

namespace tw = tilewright;

using row = tw::tile_distribution_encoding<tw::sequence<>, tw::tuple<tw::sequence<8, 4>>, tw::tuple<tw::sequence<1>>,
                                           tw::tuple<tw::sequence<0>>, tw::sequence<1>, tw::sequence<1>>;
auto n = tw::memory_access_analyzer<tw::tile_distribution<row::value>, float, 40>::bandwidth_utilization();
