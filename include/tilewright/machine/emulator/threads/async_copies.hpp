// SPDX-License-Identifier: MIT
// Asynchronous copies to LDS: they arrive as late as they may, so that a kernel that forgets to wait does not see them.
#pragma once

#include <tilewright/machine/emulator/threads/refuse.hpp>

#include <cstddef>

namespace tilewright::emulator {

/// AMD hardware fills LDS in the order of the lanes. The first lane that issues its n-th copy decides the first byte of
/// the wave's n-th copy.
inline void check_order_of_lanes(thread_context& self, index_t to, index_t bytes, call_site where) {
  thread_context& first = *(&self - self.lane_id);
  const index_t begin = to - self.lane_id * bytes;
  const auto n = std::size_t(self.async_copies_begun++);
  if (n == first.async_begins.size()) first.async_begins.push_back(begin);
  if (first.async_begins[n] == begin) return;
  refuse(self, "copies to LDS byte " + std::to_string(to), where,
         std::string(", but ") + self.target->name + " puts lane " + std::to_string(self.lane_id) + " at byte " +
             std::to_string(first.async_begins[n] + self.lane_id * bytes) +
             ": a copy without registers fills LDS in the order of the lanes");
}

/// Starts a copy of `bytes_read` bytes, and of zeros after them; `from` is nullptr outside of the tensor.
inline void start_copy(thread_context& self, const char* from, index_t bytes_read, index_t to, index_t bytes,
                       call_site where) {
  self.check_address(arch::lds_write_op(bytes), to, bytes, where);
  if (arch::is_amd(*self.target)) check_order_of_lanes(self, to, bytes, where);
  const unsigned site =
      self.checks_lds ? self.memory->check_lds_access(self, lds_touch::begin_copy, to, bytes, self.site_of(where)) : 0;
  array<char, 16> source{};
  if (from == nullptr) bytes_read = 0;
  if (bytes_read > 0) __builtin_memcpy(source.data(), from, std::size_t(bytes_read));
  self.async_copies.push_back({from, to, bytes, bytes_read, site, source, self.site_of(where)});
}

/// Completes the thread's oldest copies.
inline void complete_copies(thread_context& self, std::size_t count, call_site where) {
  auto& copies = self.async_copies;
  for (std::size_t i = 0; i < count; ++i) {
    const thread_context::async_copy& copy = copies[i];
    if (self.checks_lds)
      self.memory->check_lds_access(self, lds_touch::end_copy, copy.to, copy.bytes, self.site_of(where));
    self.write_down(arch::lds_write_op(copy.bytes), copy.to, copy.site);
    if (copy.bytes_read > 0) {
      if (__builtin_memcmp(copy.source.data(), copy.from, std::size_t(copy.bytes_read)) != 0)
        refuse(self, "waits", where,
               " for a copy to LDS (" + to_string(copy.where) +
                   ") whose source has changed since: write there after the wait");
      __builtin_memcpy(self.lds + copy.to, copy.from, std::size_t(copy.bytes_read));
    }
    __builtin_memset(self.lds + copy.to + copy.bytes_read, 0, std::size_t(copy.bytes - copy.bytes_read));
  }
  copies.erase(copies.begin(), copies.begin() + std::ptrdiff_t(count));
}

/// LDS may belong to another block when a thread's copy arrives after the end of the kernel.
[[noreturn]] inline void refuse_copies_at_end(const thread_context& self, call_site copy) {
  refuse(self, "leaves the kernel before its copy to LDS (" + to_string(copy) + ") has arrived: wait for it");
}
/// The thread has reached the end of the kernel.
inline void check_copies_at_end(const thread_context& self) {
  if (self.checks_lds && !self.async_copies.empty()) refuse_copies_at_end(self, self.async_copies.front().where);
}

/// Completes the oldest groups until at most `left` are in flight.
inline void complete_groups(thread_context& self, std::size_t left, call_site where) {
  auto& ends = self.async_group_ends;
  if (ends.size() <= left) return;
  const std::size_t groups = ends.size() - left, copies = ends[groups - 1];
  complete_copies(self, copies, where);
  ends.erase(ends.begin(), ends.begin() + std::ptrdiff_t(groups));
  for (std::size_t& end : ends) end -= copies;
}

}  // namespace tilewright::emulator
