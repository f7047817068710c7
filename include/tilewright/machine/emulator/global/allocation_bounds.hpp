// SPDX-License-Identifier: MIT
// What a launch asks about the program's allocations where it registers none itself.
#pragma once

#include <tilewright/core/base/index.hpp>

#include <string>

namespace tilewright::emulator {

/// Empty, or why these bytes are no allocation: " 4 bytes after the end of an allocation of 512 bytes".
using allocation_fault = std::string (*)(const char* data, long_index_t bytes);

/// Set in programs that include machine/emulator/allocations.hpp; nullptr: nothing is known.
inline constinit allocation_fault known_allocations = nullptr;

}  // namespace tilewright::emulator
