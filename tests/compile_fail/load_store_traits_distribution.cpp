// SPDX-License-Identifier: MIT
// Lengths are no distribution.
// EXPECT: a tile distribution or the encoding of one is needed
#include <tilewright/ck_tile/load_store_traits.hpp>

namespace tw = tilewright;

auto n = tw::load_store_traits<tw::sequence<4, 8>, float>::num_access;
