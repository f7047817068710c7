// SPDX-License-Identifier: MIT
// What launch() cannot do on gfx1250: clusters.
// COMPILERS: gfx1250
// EXPECT: launch: how ROCm launches clusters is not known; call the kernel from a __global__ function with the attribute
#include <tilewright/kernels/gemm/gemm_kernel.hpp>
#include <tilewright/kernels/gemm/portable/tensor_move_pipeline.hpp>
#include <tilewright/launch/run_kernel.hpp>

namespace tw = tilewright;

struct with_clusters
    : tw::tensor_move_policy<
          tw::arch::gfx1250, tw::half_t, 8,
          tw::block_tile{64, 64, 32, 2, 2, tw::default_block_tile<tw::arch::gfx1250, tw::half_t>().op}, 3, 2> {};
using kernel = tw::gemm_kernel<with_clusters>;
template TILEWRIGHT_GLOBAL void tw::run_kernel<kernel, tw::gemm_args>(const tw::gemm_args);
