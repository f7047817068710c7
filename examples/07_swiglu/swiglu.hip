// SPDX-License-Identifier: MIT
// The same kernels for GPUs: for their own launchers; launch() needs no such file.
#include "swiglu.hpp"

#include <tilewright/launch/run_kernel.hpp>

using kernel = swiglu_example::kernel<tilewright::arch::current>;

extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(kernel::block_size, kernel::blocks_at_once) void gemm_swiglu(
    [[maybe_unused]] swiglu_example::swiglu_args args) {
#if TILEWRIGHT_DEVICE_PASS
  kernel{}(args);
#endif
}

#if defined(__CUDACC__) && !defined(__clang__)
using swiglu_example::hopper_kernel;
template __global__ void tilewright::run_kernel<hopper_kernel, hopper_kernel::device_args>(
    const __grid_constant__ hopper_kernel::device_args);
#endif
