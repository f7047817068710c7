// SPDX-License-Identifier: MIT
// Values of other lanes of the wave, for kernels that run on the CPU.
#pragma once

#include <tilewright/exec/host/machine.hpp>

namespace tilewright::exec {
inline namespace host {

/// Value of the lane whose number differs in the bits of Mask.
template <index_t Mask, class T>
T shuffle_xor(T value) {
  static_assert(sizeof(T) == 4, "shuffle_xor: lanes exchange values of 4 bytes");
  static_assert(Mask > 0 && Mask < 64, "shuffle_xor: the mask must be less than the wave's size, and not 0");
  return shuffle(value, lane_id() ^ Mask);
}

}  // namespace host
}  // namespace tilewright::exec
