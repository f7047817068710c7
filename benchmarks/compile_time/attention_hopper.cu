// SPDX-License-Identifier: MIT
// Attention forward with a head dimension of 128 for Hopper, for nvcc, or for NVRTC with the single header.
#if defined(__CUDACC_RTC__)
#include "tilewright_single_nvidia.hpp"
#else
#include <tilewright/kernels/attention/forward/attention_forward.hpp>
#include <tilewright/kernels/attention/forward/hopper_attention.hpp>
#include <tilewright/launch/run_kernel.hpp>
#endif

namespace tw = tilewright;
using policy = tw::hopper_attention_policy<tw::half_t, 128>;
using kernel = tw::attention_forward<policy>;
template __global__ void tw::run_kernel<kernel, kernel::device_args>(const __grid_constant__ kernel::device_args);
