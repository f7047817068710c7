// SPDX-License-Identifier: MIT
// A read of 12 bytes with one instruction.
// EXPECT: lds_load: one LDS instruction reads 1, 2, 4, 8 or 16 bytes
#include <tilewright/exec/exec.hpp>

namespace tw = tilewright;

struct three_floats {
  float x, y, z;
};
float f(tw::exec::lds_pointer p) { return tw::exec::lds_load<three_floats>(p, 0).x; }
