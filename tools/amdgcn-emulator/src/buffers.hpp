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

/// race_cells of a buffer: one for 64 bytes, or one for each dword where those differ. Zero pages cost nothing until
/// they are written.
struct race_shadow {
  static constexpr u32 split = ~0u;  // the writer of a line whose dwords have cells of their own
  static constexpr u64 dwords_of_line = 16;
  race_cell *lines = nullptr, *dwords = nullptr;
  u64 num_lines = 0;
  void map(u64 bytes);
  void unmap();
  bool is_split(u64 line) const { return lines[line].writer == split; }
  race_cell& of_dword(u64 d) {
    race_cell& line = lines[d / dwords_of_line];
    if (line.writer != split) {
      for (u64 k = 0; k < dwords_of_line; ++k) dwords[d / dwords_of_line * dwords_of_line + k] = line;
      line.writer = split;
    }
    return dwords[d];
  }
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
  u8* block = nullptr;    // of an owned buffer: with its guards
  std::vector<u8> state;  // byte_state of each byte; empty: all written
  race_shadow races;      // mapped when a launch with several workgroups accesses it
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
  void drop(u64 lo);
};
std::string buffer_text(const buffer_state& b, u64 address);
}  // namespace emu
