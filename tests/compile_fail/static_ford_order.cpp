// SPDX-License-Identifier: MIT
// Dimension 0 twice.
// EXPECT: static_uford: the order must be a permutation of the dimensions
#include <tilewright/util/functional.hpp>

namespace tw = tilewright;
using tw::index_t, tw::make_tuple, tw::number, tw::sequence, tw::tuple;

void f() {
  tw::static_ford<sequence<2, 3>, sequence<0, 0>>{}([](auto) {});
}
