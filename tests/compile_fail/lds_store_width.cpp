// SPDX-License-Identifier: MIT
// A write of 32 bytes with one instruction.
// EXPECT: lds_store: one LDS instruction writes 1, 2, 4, 8 or 16 bytes
#include <tilewright/exec/exec.hpp>

namespace tw = tilewright;

struct four_doubles {
  double v[4];
};
void f(tw::exec::lds_pointer p, const four_doubles& v) { tw::exec::lds_store(p, 0, v); }
