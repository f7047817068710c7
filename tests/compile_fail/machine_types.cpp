// SPDX-License-Identifier: MIT
// Lanes that exchange halves, or values with themselves; sums of int8_t in float.
// EXPECT: shuffle_xor: lanes exchange values of 4 bytes
// EXPECT: shuffle_xor: the mask must be less than the wave's size, and not 0
// EXPECT: mma: int8_t is added up in int, everything else in float
#include <tilewright/exec/exec.hpp>

namespace tw = tilewright;

void f(float* c, const tw::int8_t* a, tw::half_t h) {
  (void)tw::exec::shuffle_xor<1>(h);
  (void)tw::exec::shuffle_xor<0>(1);
  tw::exec::mma<tw::arch::matrix_op::mfma_16x16x64_b8>(c, a, a);
}
