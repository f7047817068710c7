// SPDX-License-Identifier: MIT
// Dimension 0 twice; one number of unpacks for two dimensions.
// EXPECT: static_uford: the order must be a permutation of the dimensions
// EXPECT: static_uford: one number of unpacks and one entry of the order are needed for each length
#include <tilewright/ck_tile/functional.hpp>

namespace tw = tilewright;
using tw::index_t, tw::make_tuple, tw::number, tw::sequence, tw::tuple;

void f() {
  tw::static_ford<sequence<2, 3>, sequence<0, 0>>{}([](auto) {});
  tw::static_uford<sequence<2, 4>, sequence<2>>{}([](auto...) {});
}
