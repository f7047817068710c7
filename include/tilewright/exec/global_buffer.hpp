// SPDX-License-Identifier: MIT
// Global memory with bounds, as GPUs see it.
#pragma once

#include <tilewright/util/index.hpp>

namespace tilewright::exec {

/// Global memory from base on. On AMD GPUs both members must be the same for all threads of a wave.
struct global_buffer {
  char* base;
  long_index_t bytes;
};

/// The buffer of `bytes` bytes from `base` on; none if there are fewer than 0.
TILEWRIGHT_HD global_buffer make_global_buffer(const void* base, long_index_t bytes) {
  return {static_cast<char*>(const_cast<void*>(base)), bytes};
}

/// The same memory without its first bytes.
TILEWRIGHT_HD global_buffer advance(global_buffer buffer, long_index_t bytes) {
  return {buffer.base + bytes, buffer.bytes - bytes};
}

}  // namespace tilewright::exec
