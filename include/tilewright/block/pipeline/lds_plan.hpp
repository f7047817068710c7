// SPDX-License-Identifier: MIT
// What lies where in a block's LDS: one region after the other.
#pragma once

#include <tilewright/core/base/math.hpp>

namespace tilewright::detail {

/// Hands out LDS from offset 0 on; a constexpr plan takes its regions in order, and bytes() is what the block needs.
class lds_plan {
  index_t used_ = 0;

 public:
  /// The offset (bytes) of a region of `bytes` bytes. Alignment: a power of two.
  TILEWRIGHT_HD constexpr index_t take(index_t bytes, index_t alignment = 16) {
    const index_t offset = round_up(used_, alignment);
    used_ = offset + bytes;
    return offset;
  }
  TILEWRIGHT_HD constexpr index_t bytes() const { return used_; }
};

}  // namespace tilewright::detail
