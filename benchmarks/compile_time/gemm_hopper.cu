// SPDX-License-Identifier: MIT
// A GEMM kernel with a warp-specialized pipeline for Hopper, for nvcc, or for NVRTC with the single header.
#if defined(__CUDACC_RTC__)
#include "tilewright_single_nvidia.hpp"
#else
#include <tilewright/kernels/gemm/choice/hopper_gemm_choice.hpp>
#include <tilewright/kernels/gemm/gemm_kernel.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_gemm_kernel.hpp>
#include <tilewright/launch/run_kernel.hpp>
#endif

namespace tw = tilewright;
using policy = tw::gemm_hopper<tw::half_t, tw::operand_major::k, tw::operand_major::k,
                               tw::hopper_gemm_tile{.m = 128, .n = 256, .cluster_m = 2}>;
using kernel = tw::gemm_kernel<policy>;
template __global__ void tw::run_kernel<kernel, kernel::device_args>(const __grid_constant__ kernel::device_args);
