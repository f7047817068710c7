// SPDX-License-Identifier: MIT
// Values of other lanes of the wave, on NVIDIA GPUs.
#pragma once

#include <tilewright/exec/nvptx/memory.hpp>

namespace tilewright::exec::inline nvptx {

template <class T>
TILEWRIGHT_HD T shuffle(T value, index_t source_lane) {
  static_assert(sizeof(T) == 4, "shuffle: lanes exchange values of 4 bytes");
  unsigned result;
  asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, -1;"
               : "=r"(result)
               : "r"(bit_cast<unsigned>(value)), "r"(source_lane));
  return bit_cast<T>(result);
}

template <index_t Mask, class T>
TILEWRIGHT_HD T shuffle_xor(T value) {
  static_assert(sizeof(T) == 4, "shuffle_xor: lanes exchange values of 4 bytes");
  static_assert(Mask > 0 && Mask < 32, "shuffle_xor: the mask must be less than the wave's size, and not 0");
  unsigned result;
  asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, -1;" : "=r"(result) : "r"(bit_cast<unsigned>(value)), "n"(Mask));
  return bit_cast<T>(result);
}

using lane_mask = unsigned;
TILEWRIGHT_HD lane_mask ballot(bool condition) { return __ballot_sync(~0u, condition); }
/// Bit by bit in four instructions, fewer than the compiler finds for ballot().
template <index_t Bits>
TILEWRIGHT_HD lane_mask equal_lanes(index_t value) {
  lane_mask equal = ~0u;
  TILEWRIGHT_UNROLL_ALL
  for (index_t i = 0; i < Bits; ++i) {
    lane_mask same;
    asm volatile(
        "{\n .reg .pred p;\n and.b32 %0, %1, %2;\n setp.ne.u32 p, %0, 0;\n vote.sync.ballot.b32 %0, p, -1;\n"
        " @!p not.b32 %0, %0;\n}"
        : "=r"(same)
        : "r"(value), "r"(1u << i));
    equal &= same;
  }
  return equal;
}
TILEWRIGHT_HD index_t count_lanes(lane_mask mask) { return __popc(mask); }
TILEWRIGHT_HD index_t count_lower_lanes(lane_mask mask) { return __popc(mask & ((1u << lane_id()) - 1)); }

}  // namespace tilewright::exec::inline nvptx
