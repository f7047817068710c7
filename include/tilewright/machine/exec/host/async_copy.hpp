// SPDX-License-Identifier: MIT
// Asynchronous copies from global memory to LDS, on the CPU.
#pragma once

#include <tilewright/core/arch/tensor_descriptor.hpp>
#include <tilewright/machine/emulator/threads/async_copies.hpp>
#include <tilewright/machine/exec/host/machine.hpp>

namespace tilewright::exec::inline host {

/// Loads and stores where the target has no such instruction.
template <index_t Bytes>
void async_load_to_lds(const global_buffer& buffer, index_t byte_offset, lds_pointer p, index_t lds_offset,
                       call_site where = {}) {
  static_assert(detail::is_access_width(Bytes),
                "async_load_to_lds: one copy moves 1, 2, 4, 8 or 16 bytes for each lane");
  struct alignas(Bytes) piece {
    char bytes[Bytes];
  };
  if (Bytes < 4 || !detail::self().target->supports_direct_to_lds(Bytes))
    return lds_store(p, lds_offset, buffer_load<piece>(buffer, byte_offset, 0, where), where);
  const char* const from = detail::checked_address<piece>(buffer, byte_offset, emulator::global_touch::copy, where);
  emulator::start_copy(detail::self(), from, Bytes, p.byte + lds_offset, Bytes, where);
}
template <index_t Outstanding = 0>
void async_wait(call_site where = {}) {
  static_assert(Outstanding >= 0 && Outstanding < 64, "async_wait: between 0 and 63 copies may be outstanding");
  const std::size_t copies = detail::self().async_copies.size();
  emulator::complete_copies(detail::self(), copies > Outstanding ? copies - Outstanding : 0, where);
}

struct walking_buffer {
  explicit walking_buffer(const global_buffer& buffer) : rest(buffer) {}
  void advance(long_index_t bytes) { rest = exec::advance(rest, bytes); }

  global_buffer rest;  ///< what is left of the memory
};

template <index_t Bytes, bool ReadOnce = false>
void async_load_in_group(const walking_buffer& buffer, index_t byte_offset, lds_pointer p, index_t lds_offset,
                         call_site where = {}) {
  if (byte_offset != out_of_bounds_offset && (byte_offset < 0 || byte_offset + long_index_t(Bytes) > buffer.rest.bytes))
    emulator::refuse(detail::self(), "copies", where, " what is not inside of the tensor; give out_of_bounds_offset");
  async_load_to_lds<Bytes>(buffer.rest, byte_offset, p, lds_offset, where);
}
template <index_t Bytes>
void async_load_first_bytes(const char* from, index_t bytes_read, lds_pointer p, index_t lds_offset,
                            call_site where = {}) {
  if (bytes_read < 0 || bytes_read > Bytes || (bytes_read > 0 && reinterpret_cast<__UINTPTR_TYPE__>(from) % Bytes != 0))
    emulator::refuse(detail::self(), "copies " + std::to_string(bytes_read) + " bytes to LDS", where,
                     "; they are up to " + std::to_string(Bytes) + ", from a multiple of that");
  if (bytes_read > 0 && detail::self().checks_memory)
    detail::self().memory->check_global_access(detail::self(), detail::self().number, emulator::global_touch::copy,
                                               from, bytes_read, where);
  emulator::start_copy(detail::self(), from, bytes_read, p.byte + lds_offset, Bytes, where);
}
inline void async_end_group() { detail::self().async_group_ends.push_back(detail::self().async_copies.size()); }
template <index_t Outstanding>
void async_wait_groups(call_site where = {}) {
  emulator::complete_groups(detail::self(), Outstanding, where);
}

inline void load_tensor_tile(const arch::tensor_descriptor&, lds_pointer, call_site where = {}) {
  emulator::refuse(detail::self(), "calls load_tensor_tile", where, ", which the CPU emulator does not have");
}
template <index_t Outstanding>
void wait_for_tensor_tiles() {}

template <index_t Bytes>
void async_load_wave_to_lds(const walking_buffer& buffer, index_t byte_offset, lds_pointer first_lane,
                            call_site where = {}) {
  const arch::target& target = *detail::self().target;
  if (!target.supports_direct_to_lds(Bytes) || Bytes < 4)
    emulator::refuse(detail::self(), "calls async_load_wave_to_lds", where,
                     std::string(", but ") + target.name + " does not copy " + std::to_string(Bytes) +
                         " bytes for each lane without registers");
  async_load_in_group<Bytes>(buffer, byte_offset, first_lane, lane_id() * Bytes, where);
}

}  // namespace tilewright::exec::inline host
