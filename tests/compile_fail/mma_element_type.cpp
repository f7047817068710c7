// SPDX-License-Identifier: MIT
// A matrix instruction for 16-bit elements on floats.
// EXPECT: mma: the matrix instruction takes elements of another size
#include <tilewright/exec/exec.hpp>

namespace tw = tilewright;

void f(float* c, const float* a, const float* b) { tw::exec::mma<tw::arch::matrix_op::mfma_16x16x16>(c, a, b); }
