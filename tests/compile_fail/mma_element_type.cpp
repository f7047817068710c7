// SPDX-License-Identifier: MIT
// A matrix instruction on floats.
// EXPECT: mma: the operands are half_t or bfloat16_t
#include <tilewright/exec/exec.hpp>

namespace tw = tilewright;

void f(float* c, const float* a, const float* b) { tw::exec::mma<tw::arch::matrix_op::mfma_16x16x16>(c, a, b); }
