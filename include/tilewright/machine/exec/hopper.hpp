// SPDX-License-Identifier: MIT
// The machine's functions that only Hopper (sm_90) has, on the GPU and on the CPU. docs/machine.md is their contract.
#pragma once

#include <tilewright/core/base/types.hpp>
#include <tilewright/machine/exec/exec.hpp>

#if TILEWRIGHT_NVPTX_PASS
#include <tilewright/machine/exec/nvptx/hopper.hpp>
#include <tilewright/machine/exec/nvptx/wgmma.hpp>
#elif TILEWRIGHT_CPU_PASS
#include <tilewright/machine/exec/host/hopper.hpp>
#endif

#if TILEWRIGHT_HOPPER_PASS
namespace tilewright::exec {
template <class T>
TILEWRIGHT_HD unsigned round_pair(float low, float high) {
  static_assert(__is_same(T, half_t) || __is_same(T, bfloat16_t), "round_pair: the result is half_t or bfloat16_t");
  return tilewright::detail::bits_of_pair<T>(low, high);
}
}  // namespace tilewright::exec
#endif
