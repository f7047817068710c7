// SPDX-License-Identifier: MIT
// What is known of the memory that kernels access: buffers, and a shadow of every byte.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <amdgcn_emulator.hpp>
#include "numeric.hpp"

namespace emu {
/// What a byte holds. In the shadows of global memory, LDS and scratch.
enum byte_state : u8 { written, never_written, undefined_value, undefined_result };

/// The latest accesses to one dword by different workgroups of a launch.
struct race_cell {
  u32 writer, reader;         // workgroups, numbered over all launches; 0: none
  u32 write_site, read_site;  // instructions, + 1
  u16 write_epoch, read_epoch;
  u8 write_mask, read_mask;  // bytes
};

/// A store of values that were computed from uninitialised memory.
struct undefined_store {
  u64 lo, hi;  // offsets of the bytes
  code_site store, load;
  std::string kernel;
};

struct buffer_state {
  u64 lo = 0, hi = 0;
  std::string label;
  bool owned = false, freed = false;
  u8* block = nullptr;         // of an owned buffer: with its guards
  std::vector<u8> state;       // byte_state of each byte; empty: all written
  race_cell* cells = nullptr;  // of each dword; null until a launch with several workgroups accesses it
  std::vector<undefined_store> undefined_stores;
  u64 bytes() const { return hi - lo; }
};

struct memory::impl {
  std::map<u64, buffer_state> buffers;  // by lo
  u64 quarantined = 0;
  std::vector<u64> freed;  // oldest first
  ~impl();
  buffer_state* at(u64 address, u64 bytes);  // the live buffer that holds all of them
  buffer_state* nearest(u64 address);        // within 4 KiB, live or freed
  race_cell* cells_of(buffer_state& b);
  void drop(u64 lo);
};
std::string buffer_text(const buffer_state& b, u64 address);
}  // namespace emu
