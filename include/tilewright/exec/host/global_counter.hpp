// SPDX-License-Identifier: MIT
// How blocks tell each other through global memory what they wrote there, for kernels that run on the CPU.
#pragma once

#include <tilewright/exec/host/barrier.hpp>

namespace tilewright::exec {
inline namespace host {

/// Adds to a counter; whoever sees the new number in wait_for_count sees what this thread wrote before.
inline void add_release(unsigned* counter, unsigned n) { __atomic_fetch_add(counter, n, __ATOMIC_RELEASE); }

/// Waits until the counter is n. Only blocks with lower numbers may be waited for: they have started before.
inline void wait_for_count(const unsigned* counter, unsigned n, call_site where = {}) {
  detail::hopper().wait_for_count(*emulator::current_thread, counter, n, where);
}

/// Four floats, aligned to 16 bytes, to and from memory that several blocks use in one launch.
inline void store_to_l2(float* to, const array<float, 4>& values) { __builtin_memcpy(to, &values, sizeof(values)); }
inline array<float, 4> load_from_l2(const float* from) {
  array<float, 4> values;
  __builtin_memcpy(&values, from, sizeof(values));
  return values;
}

/// What is done to the register before comes before what follows in the source.
inline void settle(float&) {}

}  // namespace host
}  // namespace tilewright::exec
