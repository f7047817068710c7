// SPDX-License-Identifier: MIT
// Grouped products, and block-scaled ones of e4m3 where the target has one kind of it each.
#include <tilewright/core/arch/current.hpp>

#include "grouped_policies.hpp"

#if TILEWRIGHT_AMDGCN_PASS && (defined(__gfx942__) || defined(__gfx950__))

#define KERNEL(policy)                                                                                               \
  using policy##_kernel_type = tilewright::grouped_gemm_kernel<grouped_policies::policy<tilewright::arch::current>>; \
  extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(256) void policy##_kernel(                                      \
      policy##_kernel_type::device_args args) {                                                                      \
    policy##_kernel_type{}(args);                                                                                    \
  }

#define DENSE_KERNEL(policy)                                                                                 \
  using policy##_kernel_type = tilewright::gemm_kernel<grouped_policies::policy<tilewright::arch::current>>; \
  extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(policy##_kernel_type::block_size) void policy##_kernel( \
      policy##_kernel_type::args_type args) {                                                                \
    policy##_kernel_type{}(args);                                                                            \
  }

KERNEL(scaled_rows)
DENSE_KERNEL(scaled_16x64)
DENSE_KERNEL(scaled_256x128)
#if defined(__gfx942__)
KERNEL(rows)
KERNEL(along_k)
#endif

#endif
