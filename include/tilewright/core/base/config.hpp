// SPDX-License-Identifier: MIT
// What differs between the compilers that read these headers: function qualifiers and the machine being compiled for.
#pragma once

#if __cplusplus < 202002L
#error "Tilewright needs C++20: compile with -std=c++20"
#elif defined(__clang__) && defined(__HIP__) && __clang_major__ < 19
#error "Tilewright needs clang 19 (ROCm 6.4) or later for AMD GPUs"
#elif defined(__clang__) && __clang_major__ < 16
#error "Tilewright needs clang 16 or later"
#elif defined(__CUDACC_VER_MAJOR__) && __CUDACC_VER_MAJOR__ < 12
#error "Tilewright needs CUDA 12 or later"
#elif defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC_RTC__) && __GNUC__ < 12
#error "Tilewright needs g++ 12 or later"
#elif !defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC_RTC__)
#error "Tilewright is known to g++, clang, nvcc and NVRTC only"
#endif

// TILEWRIGHT_HD      a function that host and device may call. It contains `inline`: do not write that again.
// TILEWRIGHT_GLOBAL  a kernel entry.
// TILEWRIGHT_BLOCK_SIZE(n[, blocks])  the kernel is always launched with n threads in a block. For NVIDIA GPUs `blocks`
//                    is how many blocks should fit on an SM, which bounds the registers.
// TILEWRIGHT_WAVES_PER_SIMD(n)  on AMD GPUs n waves should fit on a SIMD, which bounds the registers; 0: no bound.
// Device code is always inlined: a tile whose address a call takes would not live in registers, and compilers are
// faster that way. None of the macros needs a runtime header; for a plain C++ compiler TILEWRIGHT_HD is `inline`, the
// others are empty.
#if defined(__clang__) && (defined(__HIP__) || defined(__CUDA__))
#define TILEWRIGHT_HD __attribute__((host, device, always_inline)) inline
#define TILEWRIGHT_GLOBAL __attribute__((global))
#define TILEWRIGHT_BLOCK_SIZE(n, ...) __attribute__((amdgpu_flat_work_group_size(n, n)))
#define TILEWRIGHT_WAVES_PER_SIMD(n) __attribute__((amdgpu_waves_per_eu(n)))
#elif defined(__CUDACC__)
#define TILEWRIGHT_HD __host__ __device__ __attribute__((always_inline)) inline
#define TILEWRIGHT_GLOBAL __global__
#define TILEWRIGHT_BLOCK_SIZE(...) __launch_bounds__(__VA_ARGS__)
#define TILEWRIGHT_WAVES_PER_SIMD(n)
#else
#define TILEWRIGHT_HD inline
#define TILEWRIGHT_GLOBAL
#define TILEWRIGHT_BLOCK_SIZE(...)
#define TILEWRIGHT_WAVES_PER_SIMD(n)
#endif

// TILEWRIGHT_INLINE_CALLS(expression) inlines the calls in a statement,
// before the compiler has spent time on the callees alone. clang 16 crashes there.
#if defined(__clang__) && __clang_major__ > 16
#define TILEWRIGHT_INLINE_CALLS(...) [[clang::always_inline]] (__VA_ARGS__)
#else
#define TILEWRIGHT_INLINE_CALLS(...) (__VA_ARGS__)
#endif

// TILEWRIGHT_UNROLL(n) before a loop asks device compilers for n copies of its body, TILEWRIGHT_UNROLL_ALL, before a
// loop over registers, which have no addresses, for a copy of each iteration. In nvcc's host half one of its two
// compilers would warn of either spelling, and g++ warns of loops that are none after all.
#define TILEWRIGHT_PRAGMA(text) _Pragma(#text)
#if defined(__clang__) || defined(__CUDA_ARCH__)
#define TILEWRIGHT_UNROLL(n) TILEWRIGHT_PRAGMA(unroll n)
#define TILEWRIGHT_UNROLL_ALL _Pragma("unroll")
#else
#define TILEWRIGHT_UNROLL(n)
#define TILEWRIGHT_UNROLL_ALL
#endif

// TILEWRIGHT_CONSTANT declares a constant object that device code may call or pass on: nvcc needs one of the device's
// own.
#if defined(__CUDA_ARCH__) && !defined(__clang__)
#define TILEWRIGHT_CONSTANT [[maybe_unused]] static __device__ constexpr
#else
#define TILEWRIGHT_CONSTANT inline constexpr
#endif

// TILEWRIGHT_CALLS_ANYTHING, before a template that calls what it is given: nvcc does not
// ask whether that is host or device code.
#if defined(__CUDACC__) && !defined(__clang__)
#define TILEWRIGHT_CALLS_ANYTHING TILEWRIGHT_PRAGMA(nv_exec_check_disable)
#else
#define TILEWRIGHT_CALLS_ANYTHING
#endif

// TILEWRIGHT_INLINE_LAMBDA, between a lambda's parameters and its body, inlines it wherever it is called: tiles that a
// lambda captures live in registers only then. unroll, sweep_tile and elementwise functions inline what they call.
#define TILEWRIGHT_INLINE_LAMBDA __attribute__((always_inline))

// Exactly one of these is 1 in each compilation pass. TILEWRIGHT_STUB_PASS is the host half of a HIP or CUDA
// compilation: kernels are declared there, never run.
#if defined(__AMDGCN__) && \
    (!defined(__HIP__) || defined(__HIP_DEVICE_COMPILE__))  // HIP defines the name for its host half, too
#define TILEWRIGHT_AMDGCN_PASS 1
#define TILEWRIGHT_NVPTX_PASS 0
#define TILEWRIGHT_STUB_PASS 0
#define TILEWRIGHT_CPU_PASS 0
#elif defined(__CUDA_ARCH__)
#define TILEWRIGHT_AMDGCN_PASS 0
#define TILEWRIGHT_NVPTX_PASS 1
#define TILEWRIGHT_STUB_PASS 0
#define TILEWRIGHT_CPU_PASS 0
#elif defined(__HIP__) || defined(__CUDACC__)
#define TILEWRIGHT_AMDGCN_PASS 0
#define TILEWRIGHT_NVPTX_PASS 0
#define TILEWRIGHT_STUB_PASS 1
#define TILEWRIGHT_CPU_PASS 0
#else
#define TILEWRIGHT_AMDGCN_PASS 0
#define TILEWRIGHT_NVPTX_PASS 0
#define TILEWRIGHT_STUB_PASS 0
#define TILEWRIGHT_CPU_PASS 1
#endif

#define TILEWRIGHT_DEVICE_PASS (TILEWRIGHT_AMDGCN_PASS || TILEWRIGHT_NVPTX_PASS)
// Where machine/exec/hopper.hpp has something: kernels of gemm/hopper exist there.
#define TILEWRIGHT_HOPPER_PASS (TILEWRIGHT_NVPTX_PASS || TILEWRIGHT_CPU_PASS)
