// SPDX-License-Identifier: MIT
// What the lanes of a wave bring to the places where they meet, and what they take from there.
#pragma once

#include <tilewright/emulator/deadlock.hpp>
#include <tilewright/emulator/matrix/matrix_emulation.hpp>
#include <tilewright/emulator/matrix/matrix_reads.hpp>
#include <tilewright/emulator/threads/meeting.hpp>

namespace tilewright::emulator {

/// What a lane brings to a meeting of its wave and takes from it.
struct lane_state {
  waiting_place place;
  bool has_allocated = false;
  index_t source_lane = 0;  // shuffle
  unsigned value = 0, shuffled = 0;
  matrix_access access;
};

/// The wave operation that the lanes which have arrived wait for.
struct wave_state {
  index_t arrived = 0;
  meeting at = meeting::none;
  arch::matrix_op op{};
  arch::matrix_element a_element{}, b_element{};
  array<matrix_operands, 64> operands{};
};

}  // namespace tilewright::emulator
