// SPDX-License-Identifier: MIT
// Finds races in LDS, and reads of bytes that were never written.
#pragma once

#include <tilewright/machine/emulator/fault.hpp>
#include <tilewright/machine/emulator/lds/lds_history.hpp>

#include <algorithm>
#include <map>
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
            const attempt a{g, end, mine, self, "reads"};
            check_writes(a);
            check_updates(a);
            check_written(a);
          }
          note(g, &granule::read, &granule::other_read, &further::reads, mine);
        }
        break;
      case lds_touch::begin_copy: ++copies_; [[fallthrough]];
      case lds_touch::write:
        if (address < barriers_end_) check_barriers({first, end, mine, self, "writes"}, address, bytes);
        for (granule* g = first; g != end; ++g) {
          // Usually touched before the last barrier, or never.
          if (max(g->write.time, max(g->read.time, g->update.time)) >= over || !readers_.empty())
            check_all({g, end, mine, self, "writes"});
          forget(g);
          g->write = mine;
          if (how == lds_touch::begin_copy) g->write.time = in_flight;
        }
        break;
      case lds_touch::atomic_update:
      case lds_touch::barrier_update:
        for (granule* g = first; g != end; ++g) {
          const attempt a{g, end, mine, self, "updates"};
          check_writes(a);
          check_reads(a);
          check_written(a);
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
    return mine.site;
  }

  /// A barrier in LDS, 8 bytes, over which nothing may be written until it is removed.
  void add_barrier(index_t address, call_site where) {
    barriers_[address] = sites_->number_of(where);
    barriers_end_ = barriers_.rbegin()->first + barrier_bytes;
  }
  /// A barrier that has been added is no longer in use.
  void remove_barrier(index_t address) { barriers_.erase(address); }
  /// As of lds_history; no barrier is in use.
  void begin_block(bool times_begin_anew) {
    lds_history::begin_block(times_begin_anew);
    barriers_.clear();
    barriers_end_ = 0;
  }

  /// A TMA copy to LDS starts, perhaps by a thread of another block. Multiples of 4 bytes, here and below.
  void begin_bulk_write(const thread_context& self, index_t address, index_t bytes, call_site where) {
    const touch mine = touch_of(self, where);
    granule *const first = granule_at(address), *const end = first + (bytes >> granule_shift_);
    if (address < barriers_end_) check_barriers({first, end, mine, self, "copies to"}, address, bytes);
    for (granule* g = first; g != end; ++g) {
      const attempt a{g, end, mine, self, "copies to"};
      check_all(a);
      check_fenced(a);
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
    index_t number;          ///< of the thread in its block
    std::uint16_t sequence;  ///< of the instruction or copy
  };

  /// A TMA copy or a matrix instruction of the thread's wave starts to read.
  void begin_bulk_read(const thread_context& self, bulk_reader reader, index_t address, index_t bytes, const char* does,
                       call_site where) {
    const touch mine = touch_of(self, where);
    granule *const first = granule_at(address), *const end = first + (bytes >> granule_shift_);
    if (readers_.empty()) readers_.resize(granules_.size() * std::size_t(num_warpgroups() + 1));
    for (granule* g = first; g != end; ++g) {
      if (g == first || !has_history_of(*g, g[-1])) {
        const attempt a{g, end, mine, self, does};
        check_writes(a);
        check_updates(a);
        check_written(a);
        check_fenced(a);
      }
      touch& latest = readers_of(g)[reader.number];
      const bool is_store = reader.number == num_warpgroups();
      if (is_store && latest.time != 0 && (latest.time == in_flight || races(latest, mine)))
        further_[g - granules_.data()].stores.push_back(latest);
      latest = {in_flight, reader.sequence, mine.site};
    }
    has_others_ = true;
  }
  /// It has read; the agent is who orders later writes after it.
  void end_bulk_read(bulk_reader reader, index_t agent, index_t address, index_t bytes) {
    granule *const first = granule_at(address), *const end = first + (bytes >> granule_shift_);
    const std::uint32_t flag = agent < order_->num_threads() ? 0 : others;
    const auto end_read = [&](touch& read) {
      if (read.time == in_flight && read.thread == reader.sequence)
        read = {flag | order_->now(), std::uint16_t(agent), read.site};
    };
    for (granule* g = first; g != end; ++g) {
      end_read(readers_of(g)[reader.number]);
      if (further* const more = further_of(g)) std::ranges::for_each(more->stores, end_read);
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
  /// An access to the bytes from granule g on, and how error messages name it.
  struct attempt {
    const granule *g, *end;
    touch mine;
    const thread_context& self;
    const char* does;
  };

  static constexpr index_t barrier_bytes = 8;

  void check_barriers(const attempt& a, index_t address, index_t bytes) const {
    const auto found = barriers_.upper_bound(address - barrier_bytes);
    if (found == barriers_.end() || found->first >= address + bytes) return;
    refuse(a,
           " over the barrier in LDS byte " + std::to_string(found->first) + sites_->text(found->second) +
               ", which is in use: call invalidate() first, once no thread uses it any more",
           [](const granule&) { return true; });
  }

  void check_all(const attempt& a) {
    check_writes(a);
    check_updates(a);
    check_reads(a);
    if (readers_.empty()) return;
    touch* const readers = readers_of(a.g);
    for (index_t i = 0; i <= num_warpgroups(); ++i) {
      if (readers[i].time == 0) continue;
      check_bulk_read(a, readers[i], i < num_warpgroups() ? "a matrix instruction" : "a TMA copy");
      readers[i] = {};
    }
    if (const further* const f = further_of(a.g)) {
      for (const touch t : f->stores) check_bulk_read(a, t, "a TMA copy");
    }
  }
  void check_bulk_read(const attempt& a, touch read, const char* what) const {
    if (read.time == in_flight)
      refuse(a, std::string(" before ") + what + at(read) + " that reads there was waited for");
    if (races(read, a.mine)) refuse(a, std::string(" that ") + what + " read" + at(read) + " with no barrier between");
  }
  void check_writes(const attempt& a) const {
    const touch write = a.g->write;
    if (write.time == in_flight)
      refuse(a, " before the copy by thread " + name_of(write.thread) + at(write) + " to there was waited for");
    if (races(write, a.mine) && write.thread >= order_->num_threads())
      refuse(a, " without having waited for the barrier of the TMA copy" + at(write) + " to there");
    check(a, &granule::write, "wrote");
  }
  /// Copies and matrix instructions see what threads wrote only after a fence.
  void check_fenced(const attempt& a) const {
    const touch write = a.g->write;
    if (write.time < order_->begin() || write.thread >= order_->num_threads()) return;
    if (order_->is_fenced(a.mine.thread, write.thread, write.time & ~others)) return;
    refuse(a, " that thread " + name_of(write.thread) + " wrote" + at(write) + " without a fence_async_proxy() between",
           [&](const granule& g) { return g.write == write; });
  }
  void check_updates(const attempt& a) const {
    check(a, &granule::update, "updated");
    check(a, &granule::other_update, "updated");
    if (const further* const f = further_of(a.g)) check_further(f->updates, a, "updated");
  }
  void check_reads(const attempt& a) const {
    check(a, &granule::read, "read");
    check(a, &granule::other_read, "read");
    if (const further* const f = further_of(a.g)) check_further(f->reads, a, "read");
  }
  void check_further(const std::vector<touch>& list, const attempt& a, const char* did) const {
    for (const touch t : list) {
      if (races(t, a.mine)) refuse(a, that_thread(t, did));
    }
  }
  void check_written(const attempt& a) const {
    const auto unwritten = [&](const granule& g) { return g.write.time < order_->begin(); };
    if (unwritten(*a.g)) refuse(a, ", which no thread has written before: is a write or a barrier missing?", unwritten);
  }
  /// Reports all granules from g on that race with the same earlier access.
  void check(const attempt& a, touch granule::* before, const char* did) const {
    const touch other = a.g->*before;
    if (races(other, a.mine)) refuse(a, that_thread(other, did), [&](const granule& g) { return g.*before == other; });
  }

  std::string that_thread(touch other, const char* did) const {
    return " that thread " + name_of(other.thread) + ' ' + did + at(other) +
           (is_late(other) ? " and has not waited for at the block_barrier() between: call wait_for_lds<0>() before it"
                           : " with no barrier between");
  }
  /// Names the granules from g on that are `alike`.
  template <class Alike>
  [[noreturn]] void refuse(const attempt& a, const std::string& why, Alike alike) const {
    const granule* rest = a.g + 1;
    while (rest != a.end && alike(*rest)) ++rest;
    throw fault("thread " + std::to_string(a.self.thread_id) + " of block " + to_string(a.self.block) + ' ' + a.does +
                " LDS " + bytes_of(a.g, rest) + at(a.mine) + why);
  }
  [[noreturn]] void refuse(const attempt& a, const std::string& why) const {
    refuse(a, why, [](const granule&) { return false; });
  }
  std::string at(touch t) const { return sites_->text(t.site); }
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

  std::map<index_t, std::uint16_t> barriers_;  // by address: the place of the initialisation
  index_t barriers_end_ = 0;                   // no barrier is at or after this byte
};

}  // namespace tilewright::emulator
