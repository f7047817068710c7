// SPDX-License-Identifier: MIT
// A transposing read of 4-byte elements.
// EXPECT: lds_load_transpose: transposing reads exist for elements of 1 and 2 bytes
#include <tilewright/exec/exec.hpp>

namespace tw = tilewright;

float f(tw::exec::lds_pointer p) { return tw::exec::lds_load_transpose<float>(p, 0)[0]; }
