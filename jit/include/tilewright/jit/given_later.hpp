// SPDX-License-Identifier: MIT
// Pointers for problems whose memory is not known yet.
#pragma once

#include <cstdint>

namespace tilewright::jit {

/// A pointer that says "launches will have one": aligned, and 2^40 bytes from those with other numbers. It is never
/// dereferenced. number: 0 to 4095.
inline void* given_later(int number = 0) {
  return reinterpret_cast<void*>((std::uintptr_t(unsigned(number)) + 1) << 40);
}

}  // namespace tilewright::jit
