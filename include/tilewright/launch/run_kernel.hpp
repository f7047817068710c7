// SPDX-License-Identifier: MIT
// The __global__ functions that run a ready kernel on a GPU.
#pragma once

#include <tilewright/launch/ready_kernel.hpp>

#if !TILEWRIGHT_CPU_PASS
#include <tilewright/core/arch/current.hpp>

// A parameter that stays in constant memory, where tensor maps must be (CUDA).
#if defined(__CUDACC__) && !defined(__clang__)
#define TILEWRIGHT_KERNEL_PARAMETER const __grid_constant__
#else
#define TILEWRIGHT_KERNEL_PARAMETER const
#endif

namespace tilewright {
namespace detail {

/// Whether this device pass compiles the body of a kernel: a kernel for another target is empty here.
template <class Kernel>
inline constexpr bool is_for_this_pass = true;
template <HasArch Kernel>
inline constexpr bool is_for_this_pass<Kernel> = __is_same(typename Kernel::arch, arch::current);

template <class Kernel>
TILEWRIGHT_HD constexpr void require_no_tensor_cluster() {
  if constexpr (requires { Kernel::tensor_cluster; }) {
    static_assert(
        Kernel::tensor_cluster == 1,
        "launch: how ROCm launches clusters is not known; call the kernel from a __global__ function with the "
        "attribute cluster_dims, or use a policy without clusters");
  }
}

}  // namespace detail

/// The __global__ function of a ReadyKernel for one target. Args, its launched arguments, is a parameter of its own so
/// that host and device name the same symbol.
template <class Kernel, class Args>
TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(Kernel::block_size, detail::blocks_at_once_of<Kernel>())
    TILEWRIGHT_WAVES_PER_SIMD(detail::waves_per_simd_of<Kernel>()) void run_kernel(
        [[maybe_unused]] TILEWRIGHT_KERNEL_PARAMETER Args args) {
#if TILEWRIGHT_DEVICE_PASS
  detail::require_no_tensor_cluster<Kernel>();
  if constexpr (detail::is_for_this_pass<Kernel>) Kernel{}(args);
#endif
}

/// That of Kernel<the target of this pass>, so that one program has the kernel for several GPUs.
template <template <class> class Kernel, class Args>
TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(Kernel<arch::current>::block_size,
                                        detail::blocks_at_once_of<Kernel<arch::current>>())
    TILEWRIGHT_WAVES_PER_SIMD(detail::waves_per_simd_of<Kernel<arch::current>>()) void run_kernel(
        [[maybe_unused]] TILEWRIGHT_KERNEL_PARAMETER Args args) {
#if TILEWRIGHT_DEVICE_PASS
  detail::require_no_tensor_cluster<Kernel<arch::current>>();
  Kernel<arch::current>{}(args);
#endif
}

}  // namespace tilewright
#undef TILEWRIGHT_KERNEL_PARAMETER
#endif
