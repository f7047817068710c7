// SPDX-License-Identifier: MIT
// Column-major A copied to LDS without registers on a target that cannot read it transposed.
// EXPECT: without ldmatrix or transposing reads an operand whose rows are not contiguous must pass through registers
#include <tilewright/arch/arch.hpp>
#include <tilewright/gemm/gemm_kernel.hpp>
#include <tilewright/gemm/multi_stage_pipeline.hpp>

namespace tw = tilewright;
using policy = tw::gemm_policy<tw::arch::gfx942, tw::half_t, tw::operand_major::mn, tw::operand_major::k, 8,
                               tw::default_block_tile<tw::arch::gfx942, tw::half_t>(), tw::multi_stage_pipeline<2>>;
int main() { return policy::vector; }
