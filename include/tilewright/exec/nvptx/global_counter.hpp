// SPDX-License-Identifier: MIT
// How blocks tell each other through global memory what they wrote there, on NVIDIA GPUs.
#pragma once

#include <tilewright/exec/nvptx/memory.hpp>

namespace tilewright::exec {
inline namespace nvptx {

/// Adds to a counter; whoever sees the new number in wait_for_count sees what this thread wrote before.
TILEWRIGHT_HD void add_release(unsigned* counter, unsigned n) {
  asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(counter), "r"(n) : "memory");
}

/// Waits until the counter is n. Only blocks with lower numbers may be waited for: they have started before.
TILEWRIGHT_HD void wait_for_count(const unsigned* counter, unsigned n) {
  unsigned now;
  do {
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(counter) : "memory");
  } while (now != n);
}

/// Four floats, aligned to 16 bytes, to and from memory that several blocks use in one launch: past the L1 cache.
TILEWRIGHT_HD void store_to_l2(float* to, const array<float, 4>& values) {
  __stcg(reinterpret_cast<float4*>(to), make_float4(values[0], values[1], values[2], values[3]));
}
TILEWRIGHT_HD array<float, 4> load_from_l2(const float* from) {
  const float4 v = __ldcg(reinterpret_cast<const float4*>(from));
  return {{v.x, v.y, v.z, v.w}};
}

/// What is done to the register before comes before what follows in the source.
TILEWRIGHT_HD void settle(float& value) { asm volatile("" : "+f"(value)::"memory"); }

}  // namespace nvptx
}  // namespace tilewright::exec
