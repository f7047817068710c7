// SPDX-License-Identifier: MIT
// A lane that no wave has.
// EXPECT: shuffle_xor: the mask must be less than the wave's size, and not 0
#include <tilewright/exec/exec.hpp>

int f() { return tilewright::exec::shuffle_xor<64>(1); }
