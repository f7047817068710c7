// SPDX-License-Identifier: MIT
// The GEMM kernels of kernel_table.hpp: compile this file as HIP for AMD GPUs and as CUDA (-x cu) for NVIDIA GPUs, once
// for each GEMM_ELEMENTS, and as C++ for the CPU emulator: a shared library for each GEMM_EMULATED_TARGET, of all
// kernels or of GEMM_ELEMENTS.
#include "instantiate.hpp"

#include <vector>

#include <tilewright/core/arch/arch.hpp>

#if TILEWRIGHT_STUB_PASS
#include "../gpu/runtime.hpp"  // the host half of a kernel launches it
#endif

namespace gemm_program {

#if TILEWRIGHT_CPU_PASS
/// What the program looks up in this target's library.
extern "C" [[gnu::visibility("default")]] void add_gemm_kernels(kernel_list& list) {
#if defined(GEMM_ELEMENTS)
  add_kernels<tw::arch::GEMM_EMULATED_TARGET, GEMM_ELEMENTS>(list);
#else
  list = kernels_for<tw::arch::GEMM_EMULATED_TARGET>();
#endif
}
#elif TILEWRIGHT_AMDGCN_PASS
template void emit_kernels<GEMM_ELEMENTS>();
#else
namespace {
using functions = std::vector<void (*)(kernel_list&)>;
template <class... Archs>
functions instantiated(tw::arch::target_list<Archs...>) {
  return {&add_kernels<Archs, GEMM_ELEMENTS>...};
}
#if defined(__HIP__)
[[gnu::used]] functions every = instantiated(tw::arch::amd_targets{});
#else
[[gnu::used]] functions every = instantiated(tw::arch::nvidia_targets{});
#endif
}  // namespace
#endif

}  // namespace gemm_program
