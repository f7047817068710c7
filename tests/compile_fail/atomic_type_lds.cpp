// SPDX-License-Identifier: MIT
// An atomic update of a single 16-bit number.
// EXPECT: lds_atomic: atomic updates are of int, unsigned, float, or pairs of half_t or bfloat16_t
#include <tilewright/exec/exec.hpp>

namespace exec = tilewright::exec;

void f(exec::lds_pointer p) { exec::lds_atomic<exec::atomic_op::max>(p, 0, tilewright::half_t(1.0f)); }
