// SPDX-License-Identifier: MIT
// Copies from global memory to LDS that bypass registers, for kernels that run on the CPU. They arrive as late as they
// may, in async_wait(), so that a kernel that forgets to wait does not see them.
#pragma once

#include <tilewright/exec/host/machine.hpp>

#include <cstddef>
#include <string>

namespace tilewright::exec {
inline namespace host {

/// Begins to copy Bytes from the buffer (zeros when they are not inside) to LDS; async_wait() says when they are there.
/// All lanes of the wave call it. On AMD targets that copy so many bytes for each lane without registers, the
/// destination of lane l must be that of lane 0 plus l * Bytes. Targets without such an instruction load and store.
template <index_t Bytes>
void async_load_to_lds(const global_buffer& buffer, index_t byte_offset, lds_pointer p, index_t lds_offset,
                       call_site where = {}) {
  static_assert(detail::is_lds_width(Bytes), "async_load_to_lds: one copy moves 1, 2, 4, 8 or 16 bytes for each lane");
  struct alignas(Bytes) piece {
    char bytes[Bytes];
  };
  emulator::thread_context& self = *emulator::current_thread;
  if (Bytes < 4 || !self.target->supports_direct_to_lds(Bytes))
    return lds_store(p, lds_offset, buffer_load<piece>(buffer, byte_offset), where);
  const index_t to = p.byte + lds_offset;
  self.check_place(arch::lds_write_op(Bytes), to, Bytes, where);
  if (arch::is_amd(*self.target)) {
    // The first lane that comes to its n-th copy says where the wave's n-th copy begins.
    emulator::thread_context& first = *(&self - self.lane_id);
    const index_t begin = to - self.lane_id * Bytes;
    const auto n = std::size_t(self.async_copies_begun++);
    if (n == first.async_begins.size()) first.async_begins.push_back(begin);
    if (first.async_begins[n] != begin) {
      throw emulator::fault("thread " + std::to_string(self.thread_id) + " of block " +
                            emulator::to_string(self.block) + " copies to LDS byte " + std::to_string(to) + ", but " +
                            self.target->name + " puts lane " + std::to_string(self.lane_id) + " at byte " +
                            std::to_string(first.async_begins[n] + self.lane_id * Bytes) +
                            ": a copy without registers fills LDS in the order of the lanes");
    }
  }
  const bool inside = buffer.contains(byte_offset, Bytes);
  unsigned place = 0;
  if (self.checks_lds)
    place = self.services->check_lds_access(self, emulator::lds_touch::begin_copy, to, Bytes, self.place_of(where));
  self.async_copies.push_back({inside ? buffer.base + byte_offset : nullptr, to, Bytes, place});
}

/// A buffer that walks through memory. What is not inside of it must be given as out_of_bounds_offset.
struct walking_buffer {
  explicit walking_buffer(const global_buffer& buffer) : rest(buffer) {}
  void advance(long_index_t bytes) { rest = host::advance(rest, bytes); }

  global_buffer rest;
};

/// Begins to copy Bytes of each lane to LDS, where lane l's lie l * Bytes behind `first_lane`, which is the same for
/// all lanes of the wave. All lanes of the wave call it. Only on targets that copy so many bytes for each lane without
/// registers.
template <index_t Bytes>
void async_load_wave_to_lds(const walking_buffer& buffer, index_t byte_offset, lds_pointer first_lane,
                            call_site where = {}) {
  const arch::target& target = *emulator::current_thread->target;
  if (!target.supports_direct_to_lds(Bytes) || Bytes < 4)
    throw emulator::fault("async_load_wave_to_lds: " + std::string(target.name) + " does not copy " +
                          std::to_string(Bytes) + " bytes for each lane without registers");
  if (byte_offset != out_of_bounds_offset && !buffer.rest.contains(byte_offset, Bytes))
    throw emulator::fault("async_load_wave_to_lds: thread " + std::to_string(emulator::current_thread->thread_id) +
                          " copies what is not inside of the tensor; give out_of_bounds_offset");
  async_load_to_lds<Bytes>(buffer.rest, byte_offset, first_lane, lane_id() * Bytes, where);
}

namespace detail {

/// The thread's oldest copies arrive.
inline void complete_copies(emulator::thread_context& self, std::size_t count, call_site where) {
  auto& copies = self.async_copies;
  for (std::size_t i = 0; i < count; ++i) {
    const emulator::thread_context::async_copy& copy = copies[i];
    if (self.checks_lds)
      self.services->check_lds_access(self, emulator::lds_touch::end_copy, copy.to, copy.bytes, self.place_of(where));
    self.write_down(arch::lds_write_op(copy.bytes), copy.to, copy.place);
    if (copy.from != nullptr) {
      __builtin_memcpy(self.lds + copy.to, copy.from, std::size_t(copy.bytes));
    } else {
      __builtin_memset(self.lds + copy.to, 0, std::size_t(copy.bytes));
    }
  }
  copies.erase(copies.begin(), copies.begin() + std::ptrdiff_t(count));
}

}  // namespace detail

/// Waits until at most Outstanding of the thread's latest calls of async_load_to_lds() are not complete. What they
/// wrote is then visible to the thread, and to the block after a barrier.
template <index_t Outstanding = 0>
void async_wait(call_site where = {}) {
  static_assert(Outstanding >= 0 && Outstanding < 64, "async_wait: between 0 and 63 copies may be outstanding");
  emulator::thread_context& self = *emulator::current_thread;
  const std::size_t copies = self.async_copies.size();
  detail::complete_copies(self, copies > Outstanding ? copies - Outstanding : 0, where);
}

/// Begins to copy Bytes to LDS, or zeros for out_of_bounds_offset. Copies belong to the group that async_end_group()
/// ends next. A thread that makes groups waits for groups only.
template <index_t Bytes>
void async_load_in_group(const walking_buffer& buffer, index_t byte_offset, lds_pointer p, index_t lds_offset,
                         call_site where = {}) {
  if (byte_offset != out_of_bounds_offset && !buffer.rest.contains(byte_offset, Bytes))
    throw emulator::fault("async_load_in_group: thread " + std::to_string(emulator::current_thread->thread_id) +
                          " copies what is not inside of the tensor; give out_of_bounds_offset");
  async_load_to_lds<Bytes>(buffer.rest, byte_offset, p, lds_offset, where);
}
inline void async_end_group() {
  emulator::thread_context& self = *emulator::current_thread;
  self.async_group_ends.push_back(self.async_copies.size());
}

/// Waits until at most Outstanding of the thread's latest groups are not complete; a group may be empty.
template <index_t Outstanding>
void async_wait_groups(call_site where = {}) {
  emulator::thread_context& self = *emulator::current_thread;
  auto& ends = self.async_group_ends;
  if (ends.size() <= Outstanding) return;
  const std::size_t groups = ends.size() - Outstanding, copies = ends[groups - 1];
  detail::complete_copies(self, copies, where);
  ends.erase(ends.begin(), ends.begin() + std::ptrdiff_t(groups));
  for (std::size_t& end : ends) end -= copies;
}

}  // namespace host
}  // namespace tilewright::exec
