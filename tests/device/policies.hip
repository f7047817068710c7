// SPDX-License-Identifier: MIT
// The kernels of policies.hpp, for one target of each kind that differs: gfx942, gfx950 and gfx1201.
#include <tilewright/arch/current.hpp>

#include "policies.hpp"

#if defined(__gfx942__) || defined(__gfx950__) || defined(__gfx1201__)

using target = tilewright::arch::current;
using tilewright::gemm_args;

#define KERNEL(name, threads)                                                                      \
  extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(threads) void name##_kernel(gemm_args args) { \
    tilewright::gemm_kernel<policies::name<target>>{}(args);                                       \
  }

KERNEL(fused, 256)
KERNEL(reducing, 256)
KERNEL(adding, 256)
KERNEL(int8, 256)
KERNEL(fp8, 256)
#if !defined(__gfx1201__)
KERNEL(f32, 256)
KERNEL(large, 512)
#endif

extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(256) void reduction_kernel(gemm_args args) {
  tilewright::split_k_reduction<policies::reducing<target>>{}(args);
}
extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(256) void grouped_kernel(tilewright::gemm_group group) {
  tilewright::gemm_kernel<policies::f16<target>>{}(group);
}

#endif
