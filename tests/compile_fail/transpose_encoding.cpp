// SPDX-License-Identifier: MIT
// One dimension, twelve lanes, two halves in a lane where an instruction takes four, and no room for another factor.
// EXPECT: load_tile_transpose: the tile must have two dimensions
// EXPECT: load_tile_transpose: the instruction exchanges elements among 16 (ldmatrix: 32) neighbouring lanes
// EXPECT: load_tile_transpose: the instruction exchanges 8 (ldmatrix: 16) bytes of each lane
// EXPECT: load_tile_transpose: the transposed distribution needs more factors than an encoding holds
#include <tilewright/core/arch/gfx950.hpp>
#include <tilewright/core/distribution/transpose_encoding.hpp>

namespace tw = tilewright;
using tw::index_t, tw::make_tuple, tw::number, tw::sequence, tw::tuple;

template <class... Encoding>
void f() {
  (tw::make_transpose_input_distribution<short, tw::arch::gfx950>(
      tw::tile_distribution<tw::tile_distribution_encoding<Encoding...>::value>{}));
}
template void f<sequence<>, tuple<sequence<64>>, tuple<sequence<1>>, tuple<sequence<0>>, sequence<>, sequence<>>();
template void
f<sequence<>, tuple<sequence<12>, sequence<4>>, tuple<sequence<1>>, tuple<sequence<0>>, sequence<2>, sequence<0>>();
template void
f<sequence<>, tuple<sequence<16>, sequence<2>>, tuple<sequence<1>>, tuple<sequence<0>>, sequence<2>, sequence<0>>();
template void f<sequence<>, tuple<sequence<2, 2, 2, 2, 2, 16>, sequence<8>>, tuple<sequence<1>>, tuple<sequence<5>>,
                sequence<1, 1, 1, 1, 1, 2>, sequence<4, 3, 2, 1, 0, 0>>();
