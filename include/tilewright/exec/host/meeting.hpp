// SPDX-License-Identifier: MIT
// What the threads of a block, or the lanes of a wave, can wait for each other at.
#pragma once

namespace tilewright::exec {
inline namespace host {

enum class meeting : signed char {
  none,
  barrier,
  wave_barrier,
  shuffle,
  mma,
  ldmatrix,
  transposing_ldmatrix,
  transposing_read_16,
  transposing_read_8,
  ended
};

/// In words, as faults say it.
inline const char* name(meeting at) {
  switch (at) {
    case meeting::barrier: return "a barrier";
    case meeting::wave_barrier: return "a barrier of its wave";
    case meeting::shuffle: return "a shuffle";
    case meeting::mma: return "a matrix instruction";
    case meeting::ldmatrix: return "an ldmatrix";
    case meeting::transposing_ldmatrix: return "a transposing ldmatrix";
    case meeting::transposing_read_16: return "a transposing read of 16-bit elements";
    case meeting::transposing_read_8: return "a transposing read of 8-bit elements";
    default: return "nothing";
  }
}

}  // namespace host
}  // namespace tilewright::exec
