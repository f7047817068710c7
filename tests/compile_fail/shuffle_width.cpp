// SPDX-License-Identifier: MIT
// A shuffle of 8 bytes.
// EXPECT: shuffle: lanes exchange values of 4 bytes
#include <tilewright/exec/exec.hpp>

namespace tw = tilewright;

double f(double x) { return tw::exec::shuffle(x, 0); }
