// SPDX-License-Identifier: MIT
// One number of unpacks for two dimensions.
// EXPECT: static_uford: one number of unpacks and one entry of the order are needed for each length
#include <tilewright/util/functional.hpp>

namespace tw = tilewright;
using tw::index_t, tw::make_tuple, tw::number, tw::sequence, tw::tuple;

void f() {
  tw::static_uford<sequence<2, 4>, sequence<2>>{}([](auto...) {});
}
