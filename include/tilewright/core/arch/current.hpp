// SPDX-License-Identifier: MIT
// The target that this compilation pass generates code for: the only header that asks the compiler.
#pragma once

#include <tilewright/core/base/config.hpp>

// arch::current is the target of this device pass. The host half of a HIP or CUDA compilation only has to understand
// the kernels that it never runs, so there it is an arbitrary target of the same maker. The CPU emulator chooses its
// target at run time, so a plain C++ compiler does not see the name at all. Kernels must not take it as a template
// argument: the two halves of the compilation would name different kernels.
#if defined(__HIP__) && !defined(__HIP_DEVICE_COMPILE__)
#include <tilewright/core/arch/gfx942.hpp>
#define TILEWRIGHT_CURRENT_ARCH gfx942
#elif defined(__amdgcn_processor__)
#include <tilewright/core/arch/arch.hpp>
namespace tilewright::arch::detail {
constexpr index_t found = amd_targets::find(__amdgcn_processor__), current_index = found + (found < 0);
static_assert(found >= 0, "Tilewright has no table for this GPU: compile for one of core/arch/arch.hpp (amd_targets)");
template <class... Archs>
__type_pack_element<current_index, Archs...> target_of_this_pass(target_list<Archs...>);
}  // namespace tilewright::arch::detail
#define TILEWRIGHT_CURRENT_ARCH decltype(detail::target_of_this_pass(amd_targets{}))
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800 && __CUDA_ARCH__ < 900
#include <tilewright/core/arch/sm80.hpp>
#define TILEWRIGHT_CURRENT_ARCH sm80
#elif defined(__CUDACC__) && (!defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900)
#include <tilewright/core/arch/sm90.hpp>
#define TILEWRIGHT_CURRENT_ARCH sm90
#elif defined(__HIP__) || defined(__CUDACC__)
#error "Tilewright has no table for this GPU: compile for sm_80 or newer, or for a GPU of AMD"
#endif

#ifdef TILEWRIGHT_CURRENT_ARCH
namespace tilewright::arch {
using current = TILEWRIGHT_CURRENT_ARCH;
}  // namespace tilewright::arch
#undef TILEWRIGHT_CURRENT_ARCH
#endif
