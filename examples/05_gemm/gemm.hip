// SPDX-License-Identifier: MIT
// The GEMM kernels, for every machine: compile this file as HIP for AMD GPUs, as CUDA (-x cu) for NVIDIA GPUs, and as C++ for
// the CPU backend.
#include "kernel_choice.hpp"

#include <tilewright/arch/current.hpp>
#include <tilewright/tilewright.hpp>

namespace gemm_example {

/// The policy of a choice on a target.
template <class Choice, class Arch>
using policy = tw::gemm_policy<Arch, typename Choice::element_type, Choice::a_major, Choice::b_major, Choice::vector>;

#if !TILEWRIGHT_CPU_PASS
template <class Choice>
using current_kernel = tw::gemm_kernel<policy<Choice, tw::arch::current>>;
#endif

/// One kernel for each choice; each device pass fills it for its own target.
template <class Choice>
TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(
    current_kernel<Choice>::block_size,
    current_kernel<Choice>::blocks_at_once) void gemm([[maybe_unused]] tw::gemm_args args) {
#if TILEWRIGHT_DEVICE_PASS
  static_assert(tw::require_conflict_free_gemm<policy<Choice, tw::arch::current>>());
  current_kernel<Choice>{}(args);
#endif
}

}  // namespace gemm_example

#if defined(GEMM_KERNELS_ONLY)
// Whoever includes this file wants the kernels without a machine that launches them.
#elif TILEWRIGHT_CPU_PASS
#include "cpu_machine.hpp"
#else
#include "gpu_machine.hpp"
#endif
