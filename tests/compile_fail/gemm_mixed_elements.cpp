// SPDX-License-Identifier: MIT
// A of half_t and B of bfloat16_t.
// EXPECT: only 8-bit floating-point numbers may be mixed
#include <tilewright/arch/arch.hpp>
#include <tilewright/gemm/gemm_kernel.hpp>

namespace tw = tilewright;
struct mixed : tw::gemm_policy<tw::arch::gfx942, tw::half_t, tw::operand_major::k, tw::operand_major::k, 8> {
  using b_element_type = tw::bfloat16_t;
};
int main() { return tw::gemm_kernel<mixed>::block_size; }
