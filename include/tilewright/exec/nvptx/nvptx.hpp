// SPDX-License-Identifier: MIT
// The machine's functions on NVIDIA GPUs.
#pragma once

#include <tilewright/exec/nvptx/matrix.hpp>
#include <tilewright/exec/nvptx/memory.hpp>

namespace tilewright::exec {
inline namespace nvptx {

/// Value of another lane of the wave.
template <class T>
TILEWRIGHT_HD T shuffle(T value, index_t source_lane) {
  static_assert(sizeof(T) == 4, "shuffle: lanes exchange values of 4 bytes");
  unsigned result;
  asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, -1;" : "=r"(result) : "r"(bit_cast<unsigned>(value)), "r"(source_lane));
  return bit_cast<T>(result);
}

}  // namespace nvptx
}  // namespace tilewright::exec
