// SPDX-License-Identifier: MIT
// Single elements copied to LDS without registers.
// EXPECT: this pipeline copies vectors of 16 bytes, on gfx90a and gfx942 of 4
#include <tilewright/arch/arch.hpp>
#include <tilewright/gemm/gemm_kernel.hpp>
#include <tilewright/gemm/multi_stage_pipeline.hpp>

namespace tw = tilewright;
using policy = tw::gemm_policy<tw::arch::gfx942, tw::half_t, tw::operand_major::k, tw::operand_major::k, 1,
                               tw::default_block_tile<tw::arch::gfx942, tw::half_t>(), tw::multi_stage_pipeline<2>>;
int main() { return policy::vector; }
