// SPDX-License-Identifier: MIT
// A buffer in global memory: its first byte and its size.
#pragma once

#include <tilewright/core/base/index.hpp>

namespace tilewright::exec {

/// On AMD GPUs both members must be uniform over a wave.
struct global_buffer {
  char* base;          ///< first byte
  long_index_t bytes;  ///< length; negative: empty
};

TILEWRIGHT_HD global_buffer make_global_buffer(const void* base, long_index_t bytes) {
  return {static_cast<char*>(const_cast<void*>(base)), bytes};
}

TILEWRIGHT_HD global_buffer advance(global_buffer buffer, long_index_t bytes) {
  return {buffer.base + bytes, buffer.bytes - bytes};
}

}  // namespace tilewright::exec
