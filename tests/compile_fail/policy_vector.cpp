// SPDX-License-Identifier: MIT
// Vectors of three elements, and of 32 bytes.
// EXPECT: gemm_policy: Vector must be a power of two, and at most 16 bytes; 1 where memory promises nothing
// EXPECT: gemm_policy: Vector must be a power of two, and at most 16 bytes; 1 where memory promises nothing
#include <tilewright/arch/gfx942.hpp>
#include <tilewright/gemm/gemm_policy.hpp>

namespace tw = tilewright;
using enum tw::operand_major;

struct three : tw::gemm_policy<tw::arch::gfx942, tw::half_t, k, k, 3> {};
struct sixteen : tw::gemm_policy<tw::arch::gfx942, tw::half_t, k, k, 16> {};
