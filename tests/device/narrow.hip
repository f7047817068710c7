// SPDX-License-Identifier: MIT
// GEMM with narrow operands: decoded on every target, and by the scaled matrix instructions of gfx950.
#include <tilewright/core/arch/current.hpp>

#include "narrow_policies.hpp"

#if TILEWRIGHT_AMDGCN_PASS

#define KERNEL(name, ...)                                                                                   \
  extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(tilewright::narrow_gemm<__VA_ARGS__>::block_size) void \
      name##_kernel(tilewright::narrow_gemm<__VA_ARGS__>::args_type args) {                                 \
    tilewright::narrow_gemm<__VA_ARGS__>{}(args);                                                           \
  }
using tilewright::arch::current;

KERNEL(int4, narrow_policies::int4<current>)
KERNEL(small_m, narrow_policies::small_m<current>)
#if defined(__gfx950__)
KERNEL(fp6, narrow_policies::fp6<current>)
KERNEL(scaled_8x4, narrow_policies::scaled_8x4)
KERNEL(scaled_4x4, narrow_policies::scaled_4x4)
KERNEL(scaled_8x8, narrow_policies::scaled_8x8)
KERNEL(scaled_4x8, narrow_policies::scaled_4x8)
KERNEL(scaled_6x6, narrow_policies::scaled_6x6)
KERNEL(scaled_6x8, narrow_policies::scaled_6x8)
#else
KERNEL(mixed, narrow_policies::mixed<current>)
#endif

#endif
