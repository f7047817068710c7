// SPDX-License-Identifier: MIT
// Global memory that a launch registers.
#pragma once

#include <tilewright/util/index.hpp>

namespace tilewright::emulator {

/// An allocation that kernels of a launch may access.
struct memory_range {
  const void* begin = nullptr;
  long_index_t bytes = 0;
};

}  // namespace tilewright::emulator
