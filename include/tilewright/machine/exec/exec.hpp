// SPDX-License-Identifier: MIT
// The machine's functions for kernels, the same on AMD and NVIDIA GPUs and on the CPU. docs/machine.md is their
// contract: comments in amdgcn/, nvptx/, host/ (on the emulator) and stub/ (for the host half of a HIP or CUDA
// compilation, which parses kernels but never runs them) say only what is particular there.
#pragma once

#include <tilewright/core/base/call_site.hpp>
#include <tilewright/core/base/config.hpp>
#include <tilewright/core/base/math.hpp>  // in every pass: nvcc registers plus, max and min, which device code may use
#include <tilewright/machine/exec/math.hpp>

#if TILEWRIGHT_AMDGCN_PASS
#include <tilewright/machine/exec/amdgcn/async_copy.hpp>
#include <tilewright/machine/exec/amdgcn/atomic.hpp>
#include <tilewright/machine/exec/amdgcn/machine.hpp>
#include <tilewright/machine/exec/amdgcn/matrix.hpp>
#include <tilewright/machine/exec/amdgcn/schedule.hpp>
#elif TILEWRIGHT_NVPTX_PASS
#include <tilewright/machine/exec/no_schedule.hpp>
#include <tilewright/machine/exec/nvptx/async_copy.hpp>
#include <tilewright/machine/exec/nvptx/atomic.hpp>
#include <tilewright/machine/exec/nvptx/machine.hpp>
#include <tilewright/machine/exec/nvptx/matrix.hpp>
#elif TILEWRIGHT_STUB_PASS
#include <tilewright/machine/exec/stub/stub.hpp>
#else
#include <tilewright/machine/exec/host/async_copy.hpp>
#include <tilewright/machine/exec/host/machine.hpp>
#endif

namespace tilewright::exec {
TILEWRIGHT_HD bool any(bool condition, call_site where = {}) {
  const call_scope scope(where);
  return ballot(condition) != 0;
}
template <class V>
TILEWRIGHT_HD V load_element(const V* from, [[maybe_unused]] call_site where = {}) {
#if TILEWRIGHT_CPU_PASS
  return buffer_load<V>(make_global_buffer(from, sizeof(V)), 0, 0, where);
#else
  return *from;
#endif
}
template <class V>
TILEWRIGHT_HD void store_element(V* to, const V& value, [[maybe_unused]] call_site where = {}) {
#if TILEWRIGHT_CPU_PASS
  buffer_store(make_global_buffer(to, sizeof(V)), 0, value, where);
#else
  *to = value;
#endif
}
#if !TILEWRIGHT_NVPTX_PASS
template <class V>
TILEWRIGHT_HD V masked_load(const global_buffer& buffer, index_t byte_offset, bool exists, call_site where = {}) {
  const call_scope scope(where);
  return buffer_load<V>(buffer, exists ? byte_offset : out_of_bounds_offset);
}
template <class V>
TILEWRIGHT_HD void masked_store(const global_buffer& buffer, index_t byte_offset, const V& value, bool exists,
                                call_site where = {}) {
  const call_scope scope(where);
  buffer_store(buffer, exists ? byte_offset : out_of_bounds_offset, value);
}
template <index_t Bytes>
TILEWRIGHT_HD void masked_load_to_lds(const global_buffer& buffer, index_t byte_offset, lds_pointer p,
                                      index_t lds_offset, bool exists, call_site where = {}) {
  const call_scope scope(where);
  async_load_to_lds<Bytes>(buffer, exists ? byte_offset : out_of_bounds_offset, p, lds_offset);
}
template <index_t Bits>
TILEWRIGHT_HD lane_mask equal_lanes(index_t value, call_site where = {}) {
  const call_scope scope(where);
  lane_mask equal = ballot(true);
  TILEWRIGHT_UNROLL_ALL
  for (index_t i = 0; i < Bits; ++i) {
    const bool is_set = (value >> i & 1) != 0;
    const lane_mask set = ballot(is_set);
    equal &= is_set ? set : ~set;
  }
  return equal;
}
#endif
#if !TILEWRIGHT_AMDGCN_PASS
/// The type in which loads and stores move a vector.
template <class V>
using moved_t = V;
#endif
}  // namespace tilewright::exec
