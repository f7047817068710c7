// SPDX-License-Identifier: MIT
// A GEMM of doubles.
// EXPECT: matrix_element_v: operands are half_t, bfloat16_t, float, int8_t or an 8-bit float
#include <tilewright/arch/gfx942.hpp>
#include <tilewright/gemm/gemm_policy.hpp>

namespace tw = tilewright;
using enum tw::operand_major;

struct doubles : tw::gemm_policy<tw::arch::gfx942, double, k, k, 2> {};
