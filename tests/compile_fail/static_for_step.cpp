// SPDX-License-Identifier: MIT
// A loop that would not end.
// EXPECT: static_for: the step must be positive
#include <tilewright/ck_tile/functional.hpp>

namespace tw = tilewright;

void f() {
  tw::static_for<0, 4, 0>{}([](auto) {});
}
