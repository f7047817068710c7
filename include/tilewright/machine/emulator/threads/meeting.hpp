// SPDX-License-Identifier: MIT
// Where threads wait for each other.
#pragma once

#include <tilewright/core/base/call_site.hpp>

namespace tilewright::emulator {

enum class meeting : signed char {
  none,
  unchanged_value,
  barrier,
  wave_barrier,
  shuffle,
  vote,
  mma,
  ldmatrix,
  transposing_ldmatrix,
  transposing_read_16,
  transposing_read_8,
  transposing_stmatrix,
  stmatrix,
  barrier_in_lds,
  named_barrier,
  cluster_barrier,
  warpgroup,
  counter,
  ended
};

/// Where a thread waits, and the line.
struct waiting_site {
  meeting at = meeting::none;         ///< what it waits for
  exec::call_site where{nullptr, 0};  ///< the source line of the wait
};

/// Whether the lanes of one wave meet there.
inline bool is_of_wave(meeting at) { return at >= meeting::wave_barrier && at <= meeting::stmatrix; }

/// In the words of a fault.
inline const char* name(meeting at) {
  switch (at) {
    case meeting::unchanged_value: return "a value in global memory that no thread changes";
    case meeting::barrier: return "a barrier";
    case meeting::wave_barrier: return "a barrier of its wave";
    case meeting::shuffle: return "a shuffle";
    case meeting::vote: return "a vote";
    case meeting::mma: return "a matrix instruction";
    case meeting::ldmatrix: return "an ldmatrix";
    case meeting::transposing_ldmatrix: return "a transposing ldmatrix";
    case meeting::transposing_read_16: return "a transposing read of 16-bit elements";
    case meeting::transposing_read_8: return "a transposing read of 8-bit elements";
    case meeting::transposing_stmatrix: return "a transposing stmatrix";
    case meeting::stmatrix: return "an stmatrix";
    case meeting::barrier_in_lds: return "a barrier in LDS";
    case meeting::named_barrier: return "a named barrier";
    case meeting::cluster_barrier: return "a barrier of its cluster";
    case meeting::warpgroup: return "wgmma_wait";
    case meeting::counter: return "a counter in global memory";
    default: return "nothing";
  }
}

}  // namespace tilewright::emulator
