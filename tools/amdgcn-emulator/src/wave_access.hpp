// SPDX-License-Identifier: MIT
// A load or store of all lanes of a wave at once, where the checks have nothing to report. What is out of bounds, not
// initialised, racing or of a rare form is left to the functions that treat one lane after the other.
#pragma once

#include "memory.hpp"

namespace emu {
/// Consecutive bytes that consecutive lanes access.
struct run {
  u64 first, bytes;
};
struct wave_access {
  u64 lanes = 0;
  u64 address[64];       // of each lane
  u8* memory = nullptr;  // of address 0
  u8* state = nullptr;   // byte_state of address 0; null: everything is known
  run runs[64];
  u32 num_runs = 0;
  void find_runs(u64 of_lanes, u32 bytes);
};
enum access_space { in_lds, in_global, in_scratch };
/// Whether it was done: a load or store of operand `o`, from its register `first`.
bool access_together(wave& w, const inst& i, wave_access& a, access_space space, const operand& o, u32 first);
/// Addresses of global memory, all in one buffer. False: they are not.
bool access_global_together(wave& w, const inst& i, wave_access& a);
// hazards.cpp: whether no earlier access to the dwords of these lanes races; then they are noted.
bool lds_orderly(wave& w, const inst& i, wave_access& a, u64 lanes, bool write);
// Whether no read of another wave races with a store of these lanes that changes nothing.
bool lds_unread(wave& w, const inst& i, wave_access& a, u64 lanes);
// global_races.cpp: the same for dwords of a buffer.
bool global_orderly(wave& w, const inst& i, buffer_state& b, const wave_access& a, bool write);
}  // namespace emu
