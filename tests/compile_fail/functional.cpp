// SPDX-License-Identifier: MIT
// CK Tile's compile-time loops.
#include <tilewright/compat/ck_tile/functional.hpp>

namespace tw = tilewright;
using tw::index_t, tw::make_tuple, tw::number, tw::sequence, tw::tuple;

// A loop that would not end.
// EXPECT: static_for: the step must be positive
void for_step() {
  tw::static_for<0, 4, 0>{}([](auto) {});
}

// Dimension 0 twice; one number of unpacks for two dimensions.
// EXPECT: static_uford: the order must be a permutation of the dimensions
// EXPECT: static_uford: one number of unpacks and one entry of the order are needed for each length
void ford() {
  tw::static_ford<sequence<2, 3>, sequence<0, 0>>{}([](auto) {});
  tw::static_uford<sequence<2, 4>, sequence<2>>{}([](auto...) {});
}
