// SPDX-License-Identifier: MIT
// Finds races in LDS, and reads of bytes that were never written.
#pragma once

#include <tilewright/emulator/fault.hpp>
#include <tilewright/emulator/lds/lds_history.hpp>

#include <string>
#include <vector>

namespace tilewright::emulator {

/// Refuses races, reads of bytes that were never written, and accesses to bytes that a copy or a matrix instruction in
/// flight uses.
class lds_checker : public lds_history {
 public:
  using lds_history::lds_history;

  /// Records an access that is inside of the allocation and aligned. Throws a fault if it races with an earlier one,
  /// reads bytes that were never written, or touches bytes that a copy in flight will write. Returns the number of its
  /// place.
  unsigned access(const thread_context& self, lds_touch how, index_t address, index_t bytes, call_site where) {
    if (bytes < 4 && granule_shift_ != 0) look_at_single_bytes();
    const touch mine = touch_of(self, where);
    granule *const first = granule_at(address), *const end = first + (bytes >> granule_shift_);
    // Accesses by threads of this block before this time happen before the new one.
    const std::uint32_t begin = order_->begin(), over = is_of_block(mine) ? block_time_ : begin;
    switch (how) {
      case lds_touch::read:
        for (granule* g = first; g != end; ++g) {
          // Usually written by this block before its last barrier.
          if (g->write.time - begin >= over - begin || g->update.time >= over) {
            check_writes(g, end, mine, self, "reads");
            check_updates(g, end, mine, self, "reads");
            check_written(g, end, mine, self, "reads");
          }
          note(g, &granule::read, &granule::other_read, &further::reads, mine);
        }
        break;
      case lds_touch::begin_copy: ++copies_; [[fallthrough]];
      case lds_touch::write:
        for (granule* g = first; g != end; ++g) {
          // Usually touched before the last barrier, or never.
          if (max(g->write.time, max(g->read.time, g->update.time)) >= over || !readers_.empty())
            check_all(g, end, mine, self, "writes");
          forget(g);
          g->write = mine;
          if (how == lds_touch::begin_copy) g->write.time = in_flight;
        }
        break;
      case lds_touch::atomic_update:
      case lds_touch::barrier_update:
        for (granule* g = first; g != end; ++g) {
          check_writes(g, end, mine, self, "updates");
          check_reads(g, end, mine, self, "updates");
          check_written(g, end, mine, self, "updates");
          if (how == lds_touch::barrier_update) {
            note_two(g->update, g->other_update, mine);
          } else {
            note(g, &granule::update, &granule::other_update, &further::updates, mine);
          }
        }
        if (!is_of_block(mine)) from_elsewhere_ = mine;
        break;
      case lds_touch::end_copy:
        --copies_;
        for (granule* g = first; g != end; ++g) g->write.time = order_->now();
        break;
    }
    return mine.place;
  }

  /// A bulk copy to LDS starts, perhaps by a thread of another block. Multiples of 4 bytes, here and below.
  void begin_bulk_write(const thread_context& self, index_t address, index_t bytes, call_site where) {
    const touch mine = touch_of(self, where);
    granule *const first = granule_at(address), *const end = first + (bytes >> granule_shift_);
    for (granule* g = first; g != end; ++g) {
      check_all(g, end, mine, self, "copies to");
      check_fenced(g, end, mine, self, "copies to");
      forget(g);
      g->write = mine;
      g->write.time = in_flight;
    }
    has_others_ = true;
    if (!is_of_block(mine)) from_elsewhere_ = mine;
  }
  /// It has arrived. Its barrier is the agent that wrote.
  void end_bulk_write(index_t agent, index_t address, index_t bytes) {
    granule *const first = granule_at(address), *const end = first + (bytes >> granule_shift_);
    for (granule* g = first; g != end; ++g) {
      g->write.time = others | order_->now();
      g->write.thread = std::uint16_t(agent);
    }
  }

  /// Reads LDS asynchronously: a warpgroup of the block, or the bulk stores of its threads, which are numbered after
  /// them.
  struct bulk_reader {
    index_t number;
    std::uint16_t sequence;  // of the instruction or copy
  };

  /// A bulk copy or a matrix instruction of the thread's wave starts to read.
  void begin_bulk_read(const thread_context& self, bulk_reader reader, index_t address, index_t bytes, const char* does,
                       call_site where) {
    const touch mine = touch_of(self, where);
    granule *const first = granule_at(address), *const end = first + (bytes >> granule_shift_);
    if (readers_.empty()) readers_.resize(granules_.size() * std::size_t(num_warpgroups() + 1));
    for (granule* g = first; g != end; ++g) {
      check_writes(g, end, mine, self, does);
      check_updates(g, end, mine, self, does);
      check_written(g, end, mine, self, does);
      check_fenced(g, end, mine, self, does);
      readers_of(g)[reader.number] = {in_flight, reader.sequence, mine.place};
    }
    has_others_ = true;
  }
  /// It has read; the agent is who orders later writes after it.
  void end_bulk_read(bulk_reader reader, index_t agent, index_t address, index_t bytes) {
    granule *const first = granule_at(address), *const end = first + (bytes >> granule_shift_);
    const std::uint32_t flag = agent < order_->num_threads() ? 0 : others;
    for (granule* g = first; g != end; ++g) {
      touch& read = readers_of(g)[reader.number];
      if (read.time == in_flight && read.thread == reader.sequence)
        read = {flag | order_->now(), std::uint16_t(agent), read.place};
    }
  }

  /// The block ends: no other block may access its LDS any more.
  void end_block() const {
    if (from_elsewhere_.time == 0 || (from_elsewhere_.time & ~others) < order_->latest_cluster_sync()) return;
    throw fault("thread " + name_of(from_elsewhere_.thread) + at(from_elsewhere_) + " touches LDS of block " +
                std::to_string(first_thread_ / block_size_) +
                ", which may have left the kernel: a cluster_sync() at the end is missing");
  }

 private:
  void check_all(const granule* g, const granule* end, touch mine, const thread_context& self, const char* does) {
    check_writes(g, end, mine, self, does);
    check_updates(g, end, mine, self, does);
    check_reads(g, end, mine, self, does);
    if (readers_.empty()) return;
    touch* const readers = readers_of(g);
    for (index_t i = 0; i <= num_warpgroups(); ++i) {
      const char* const what = i < num_warpgroups() ? "a matrix instruction" : "a bulk copy";
      if (readers[i].time == in_flight) {
        throw fault(subject(self) + does + " LDS " + bytes_of(g, g + 1) + at(mine) + " before " + what +
                    at(readers[i]) + " that reads there was waited for");
      }
      if (races(readers[i], mine)) {
        throw fault(subject(self) + does + " LDS " + bytes_of(g, g + 1) + at(mine) + " that " + what + " read" +
                    at(readers[i]) + " with no barrier between");
      }
      readers[i] = {};
    }
  }
  void check_writes(const granule* g, const granule* end, touch mine, const thread_context& self,
                    const char* does) const {
    if (g->write.time == in_flight) {
      throw fault(subject(self) + does + " LDS " + bytes_of(g, g + 1) + at(mine) + " before the copy by thread " +
                  name_of(g->write.thread) + at(g->write) + " to there was waited for");
    }
    if (!races(g->write, mine)) return;
    if (g->write.thread >= order_->num_threads()) {
      throw fault(subject(self) + does + " LDS " + bytes_of(g, g + 1) + at(mine) +
                  " without having waited for the barrier of the bulk copy" + at(g->write) + " to there");
    }
    refuse(&granule::write, g, end, mine, self, does, "wrote");
  }
  /// Copies and matrix instructions see what threads wrote only after a fence.
  void check_fenced(const granule* g, const granule* end, touch mine, const thread_context& self,
                    const char* does) const {
    const touch write = g->write;
    if (write.time < order_->begin() || write.thread >= order_->num_threads()) return;
    if (order_->is_fenced(mine.thread, write.thread, write.time & ~others)) return;
    const granule* rest = g + 1;
    while (rest != end && rest->write == write) ++rest;
    throw fault(subject(self) + does + " LDS " + bytes_of(g, rest) + at(mine) + " that thread " +
                name_of(write.thread) + " wrote" + at(write) + " without a fence_async_proxy() between");
  }
  void check_updates(const granule* g, const granule* end, touch mine, const thread_context& self,
                     const char* does) const {
    if (races(g->update, mine)) refuse(&granule::update, g, end, mine, self, does, "updated");
    if (races(g->other_update, mine)) refuse(&granule::other_update, g, end, mine, self, does, "updated");
    if (const further* const f = further_of(g)) check_further(f->updates, g, mine, self, does, "updated");
  }
  void check_reads(const granule* g, const granule* end, touch mine, const thread_context& self,
                   const char* does) const {
    if (races(g->read, mine)) refuse(&granule::read, g, end, mine, self, does, "read");
    if (races(g->other_read, mine)) refuse(&granule::other_read, g, end, mine, self, does, "read");
    if (const further* const f = further_of(g)) check_further(f->reads, g, mine, self, does, "read");
  }

  void check_further(const std::vector<touch>& list, const granule* g, touch mine, const thread_context& self,
                     const char* does, const char* did) const {
    for (const touch t : list) {
      if (!races(t, mine)) continue;
      throw fault(subject(self) + does + " LDS " + bytes_of(g, g + 1) + at(mine) + " that thread " + name_of(t.thread) +
                  ' ' + did + at(t) + why_racing(t));
    }
  }

  void check_written(const granule* g, const granule* end, touch mine, const thread_context& self,
                     const char* does) const {
    if (g->write.time >= order_->begin()) return;
    const granule* rest = g + 1;
    while (rest != end && rest->write.time < order_->begin()) ++rest;
    throw fault(subject(self) + does + " LDS " + bytes_of(g, rest) + at(mine) +
                ", which no thread has written before: is a write or a barrier missing?");
  }

  /// Reports all granules from g on that race with the same earlier access.
  [[noreturn]] void refuse(touch granule::* before, const granule* g, const granule* end, touch mine,
                           const thread_context& self, const char* does, const char* did) const {
    const touch other = g->*before;
    const granule* rest = g + 1;
    while (rest != end && rest->*before == other) ++rest;
    throw fault(subject(self) + does + " LDS " + bytes_of(g, rest) + at(mine) + " that thread " +
                name_of(other.thread) + ' ' + did + at(other) + why_racing(other));
  }

  const char* why_racing(touch other) const {
    return is_late(other) ? " and has not waited for at the block_barrier() between: call wait_for_lds<0>() before it"
                          : " with no barrier between";
  }
  static std::string subject(const thread_context& self) {
    return "thread " + std::to_string(self.thread_id) + " of block " + to_string(self.block) + ' ';
  }
  std::string at(touch t) const { return places_->text(t.place); }
  /// A thread's number, with its block if that is another one.
  std::string name_of(index_t thread) const {
    const std::string number = std::to_string(thread % block_size_);
    if (thread / block_size_ == first_thread_ / block_size_) return number;
    return number + " of block " + std::to_string(thread / block_size_) + " of the cluster";
  }
  std::string bytes_of(const granule* first, const granule* end) const {
    const auto begin = (first - granules_.data()) << granule_shift_;
    const auto last = ((end - granules_.data()) << granule_shift_) - 1;
    if (begin == last) return "byte " + std::to_string(begin);
    return "bytes " + std::to_string(begin) + " to " + std::to_string(last);
  }
};

}  // namespace tilewright::emulator
