// SPDX-License-Identifier: MIT
// What the lanes of a wave pass to collective operations, and what they receive from them.
#pragma once

#include <tilewright/emulator/deadlock.hpp>
#include <tilewright/emulator/matrix/matrix_emulation.hpp>
#include <tilewright/emulator/matrix/matrix_reads.hpp>
#include <tilewright/emulator/threads/meeting.hpp>

namespace tilewright::emulator {

/// What a lane passes to an operation of its wave and receives from it.
struct lane_state {
  waiting_place place;
  bool has_allocated = false;
  index_t source_lane = 0;           // shuffle
  unsigned value = 0, shuffled = 0;  // shuffle, any
  matrix_access access;
};

/// The wave operation at which the first lanes of a wave wait for the others.
struct wave_state {
  index_t arrived = 0;
  meeting at = meeting::none;
  call_site where{nullptr, 0};  // of the first lane to arrive
  index_t at_barrier = 0;       // lanes that wait at the block's barrier
  call_site barrier{nullptr, 0};
  arch::matrix_op op{};
  arch::matrix_element a_element{}, b_element{};
  array<matrix_operands, 64> operands{};
};

}  // namespace tilewright::emulator
