// SPDX-License-Identifier: MIT
// Finds accesses of two threads to the same bytes of LDS with no barrier between, and reads of what was never written.
#pragma once

#include <tilewright/exec/host/access_order.hpp>
#include <tilewright/exec/host/call_places.hpp>
#include <tilewright/exec/host/thread_context.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tilewright::exec {
inline namespace host {

/// Remembers for every byte of a block's LDS who wrote it last and who has read it since. Barriers order accesses:
/// block_sync those of all threads, wave_sync those of a wave, others as access_order says; nothing else does, so
/// whether two accesses race does not depend on the order in which the threads happened to run. Bytes are looked at in
/// fours until the first access of fewer than four.
class lds_checker {
 public:
  /// Of a block of the cluster whose accesses `order` orders.
  lds_checker(access_order& order, call_places& places, index_t wave_size, index_t block, index_t block_size,
              index_t lds_bytes)
      : order_(&order),
        places_(&places),
        wave_shift_(index_t(std::countr_zero(unsigned(wave_size)))),
        first_thread_(block * block_size),
        block_size_(block_size),
        granules_(std::size_t(lds_bytes + 3) / 4),
        wave_time_(std::size_t(block_size / wave_size)) {}

  /// LDS of a new block, at order.begin(): nothing is written.
  void begin_block(bool times_begin_anew) {
    if (times_begin_anew || copies_ > 0 || has_others_) {
      std::fill(granules_.begin(), granules_.end(), granule{});
      std::fill(wave_time_.begin(), wave_time_.end(), 0u);
      std::fill(readers_.begin(), readers_.end(), touch{});
      copies_ = 0;
      has_others_ = false;
    }
    further_.clear();
    block_time_ = order_->begin();
    from_elsewhere_ = {};
  }
  void block_sync() {
    order_->meet(first_thread_, block_size_);
    block_time_ = order_->tick();
  }
  void wave_sync(index_t wave) {
    const index_t lanes = 1 << wave_shift_;
    order_->meet(first_thread_ + wave * lanes, lanes);
    wave_time_[std::size_t(wave)] = order_->tick();
  }

  /// Before which time all that one thread of the block did is over for another one.
  std::uint32_t known_before(index_t thread, index_t other) const {
    const index_t wave = (other - first_thread_) >> wave_shift_;
    const bool same = (thread - first_thread_) >> wave_shift_ == wave;
    return same ? max(block_time_, wave_time_[std::size_t(wave)]) : block_time_;
  }

  /// Takes note of an access that is inside of the allocation and aligned. Throws a fault if it races with an earlier
  /// one, reads what was never written, or touches what a copy under way will write. Returns the number of its place.
  unsigned access(const thread_context& self, lds_touch how, index_t address, index_t bytes, call_site where) {
    if (bytes < 4 && granule_shift_ != 0) look_at_single_bytes();
    const touch mine = touch_of(self, where);
    granule *const first = granule_at(address), *const end = first + (bytes >> granule_shift_);
    // What threads of this block did before is over for them.
    const std::uint32_t begin = order_->begin(), over = is_of_block(mine) ? block_time_ : begin;
    switch (how) {
      case lds_touch::read:
        for (granule* g = first; g != end; ++g) {
          // Written in this block and before the last barrier, as a rule.
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
          // Touched before the last barrier or never, as a rule.
          if (max(g->write.time, max(g->read.time, g->update.time)) >= over || !readers_.empty())
            check_all(g, end, mine, self, "writes");
          forget(g);
          g->write = mine;
          if (how == lds_touch::begin_copy) g->write.time = under_way;
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

  /// A bulk copy to LDS begins, perhaps by a thread of another block. Whole multiples of 4 bytes here and below.
  void begin_bulk_write(const thread_context& self, index_t address, index_t bytes, call_site where) {
    const touch mine = touch_of(self, where);
    granule *const first = granule_at(address), *const end = first + (bytes >> granule_shift_);
    for (granule* g = first; g != end; ++g) {
      check_all(g, end, mine, self, "copies to");
      check_fenced(g, end, mine, self, "copies to");
      forget(g);
      g->write = mine;
      g->write.time = under_way;
    }
    has_others_ = true;
    if (!is_of_block(mine)) from_elsewhere_ = mine;
  }
  /// It has come, as a deed of the agent that its barrier is.
  void end_bulk_write(index_t agent, index_t address, index_t bytes) {
    granule *const first = granule_at(address), *const end = first + (bytes >> granule_shift_);
    for (granule* g = first; g != end; ++g) {
      g->write.time = others | order_->now();
      g->write.thread = std::uint16_t(agent);
    }
  }

  /// What reads LDS on its own: a warpgroup of the block, or after those the bulk stores of its threads.
  struct bulk_reader {
    index_t number;
    std::uint16_t sequence;  // tells apart what it does
  };
  index_t num_warpgroups() const { return (block_size_ + 127) / 128; }

  /// A bulk copy or a matrix instruction of the thread's wave begins to read.
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
      readers_of(g)[reader.number] = {under_way, reader.sequence, mine.place};
    }
    has_others_ = true;
  }
  /// It has read, as a deed of an agent.
  void end_bulk_read(bulk_reader reader, index_t agent, index_t address, index_t bytes) {
    granule *const first = granule_at(address), *const end = first + (bytes >> granule_shift_);
    const std::uint32_t flag = agent < order_->num_threads() ? 0 : others;
    for (granule* g = first; g != end; ++g) {
      touch& read = readers_of(g)[reader.number];
      if (read.time == under_way && read.thread == reader.sequence)
        read = {flag | order_->now(), std::uint16_t(agent), read.place};
    }
  }

  /// The block ends: nobody else may touch its LDS from now on.
  void end_block() const {
    if (from_elsewhere_.time == 0 || (from_elsewhere_.time & ~others) < order_->latest_cluster_sync()) return;
    throw fault("thread " + name_of(from_elsewhere_.thread) + at(from_elsewhere_) + " touches LDS of block " +
                std::to_string(first_thread_ / block_size_) +
                ", which may have left the kernel: a cluster_sync() at the end is missing");
  }

 private:
  static constexpr std::uint32_t under_way = 0xffffffff;
  /// Set in the time of touches by others than the block's threads: the block's barrier says nothing of those.
  static constexpr std::uint32_t others = 0x80000000;

  struct touch {
    std::uint32_t time = 0;  // barriers before it; 0: it never was
    std::uint16_t thread = 0;
    std::uint16_t place = 0;

    friend bool operator==(touch, touch) = default;
  };
  /// The last write and, of the reads since, as many as it takes to know whether a write races with any of them: the
  /// newest, and one by another thread that is not ordered before it; by another wave, where there is such a read.
  /// Likewise of atomic updates, which do not race with each other.
  struct granule {
    touch write, read, other_read, update, other_update;
  };
  /// Those for which two do not suffice, because threads met in other ways than block_sync and wave_sync.
  struct further {
    std::vector<touch> reads, updates;
  };

  touch touch_of(const thread_context& self, call_site where) {
    touch t{order_->now(), std::uint16_t(self.number), places_->number_of(where)};
    if (!is_of_block(t)) {
      t.time |= others;
      has_others_ = true;
    }
    return t;
  }
  granule* granule_at(index_t address) { return granules_.data() + (address >> granule_shift_); }
  touch* readers_of(const granule* g) {
    return readers_.data() + (g - granules_.data()) * std::ptrdiff_t(num_warpgroups() + 1);
  }

  bool is_of_block(touch t) const { return t.thread >= first_thread_ && t.thread < first_thread_ + block_size_; }
  const further* further_of(const granule* g) const {
    if (further_.empty()) return nullptr;
    const auto found = further_.find(g - granules_.data());
    return found == further_.end() ? nullptr : &found->second;
  }
  further* further_of(const granule* g) { return const_cast<further*>(std::as_const(*this).further_of(g)); }
  void forget(granule* g) {
    *g = {};
    if (!further_.empty()) further_.erase(g - granules_.data());
  }

  bool is_open(touch t) const { return t.time >= block_time_; }
  index_t wave_of(touch t) const { return t.thread >> wave_shift_; }
  bool ordered_in_wave(touch before, touch mine) const {
    return wave_of(before) == wave_of(mine) && is_of_block(mine) &&
           before.time < wave_time_[std::size_t(wave_of(mine) - (first_thread_ >> wave_shift_))];
  }
  bool races(touch before, touch mine) const {
    if (before.time < order_->begin() || before.thread == mine.thread) return false;
    if (is_of_block(mine) && (!is_open(before) || ordered_in_wave(before, mine))) return false;
    return !order_->is_over(mine.thread, before.thread, before.time & ~others);
  }

  void note(granule* g, touch granule::* newest, touch granule::* other, std::vector<touch> further::* list,
            touch mine) {
    if (!order_->is_used()) return note_two(g->*newest, g->*other, mine);
    // Where order is not that of block_sync and wave_sync alone, all that are not over for the new one count.
    const auto keep = [&](touch t) { return t.time >= order_->begin() && races(t, mine); };
    std::vector<touch> more;
    if (further* const known = further_of(g)) more.swap(known->*list);
    std::erase_if(more, [&](touch t) { return !keep(t); });
    if (keep(g->*other)) more.push_back(g->*other);
    g->*other = keep(g->*newest) ? g->*newest : touch{};
    g->*newest = mine;
    if (!more.empty()) (further_[g - granules_.data()].*list).swap(more);
  }
  void note_two(touch& newest, touch& other, touch mine) const {
    if (!is_open(newest)) {
      other = {};
    } else if (newest.thread != mine.thread) {
      const bool two_waves = is_open(other) && wave_of(other) != wave_of(mine);
      if (wave_of(newest) != wave_of(mine) || (!two_waves && !ordered_in_wave(newest, mine))) other = newest;
    }
    newest = mine;
  }

  void check_all(const granule* g, const granule* end, touch mine, const thread_context& self, const char* does) {
    check_writes(g, end, mine, self, does);
    check_updates(g, end, mine, self, does);
    check_reads(g, end, mine, self, does);
    if (readers_.empty()) return;
    touch* const readers = readers_of(g);
    for (index_t i = 0; i <= num_warpgroups(); ++i) {
      const char* const what = i < num_warpgroups() ? "a matrix instruction" : "a bulk copy";
      if (readers[i].time == under_way) {
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
    if (g->write.time == under_way) {
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
  /// What threads wrote, copies and matrix instructions see after a fence only.
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
                  ' ' + did + at(t) + " with no barrier between");
    }
  }

  void check_written(const granule* g, const granule* end, touch mine, const thread_context& self,
                     const char* does) const {
    if (g->write.time >= order_->begin()) return;
    const granule* rest = g + 1;
    while (rest != end && rest->write.time < order_->begin()) ++rest;
    throw fault(subject(self) + does + " LDS " + bytes_of(g, rest) + at(mine) + ", which nobody has written");
  }

  /// The granules from g on that the same earlier access makes a race of.
  [[noreturn]] void refuse(touch granule::* before, const granule* g, const granule* end, touch mine,
                           const thread_context& self, const char* does, const char* did) const {
    const touch other = g->*before;
    const granule* rest = g + 1;
    while (rest != end && rest->*before == other) ++rest;
    throw fault(subject(self) + does + " LDS " + bytes_of(g, rest) + at(mine) + " that thread " +
                name_of(other.thread) + ' ' + did + at(other) + " with no barrier between");
  }

  static std::string subject(const thread_context& self) {
    return "thread " + std::to_string(self.thread_id) + " of block " + to_string(self.block) + ' ';
  }
  std::string at(touch t) const { return places_->text(t.place); }
  /// A thread's number, with its block where that is another one.
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

  void look_at_single_bytes() {
    std::vector<granule> bytes;
    bytes.reserve(granules_.size() * 4);
    for (const granule& g : granules_) bytes.insert(bytes.end(), 4, g);
    granules_.swap(bytes);
    std::unordered_map<std::ptrdiff_t, further> of_bytes;
    for (const auto& [number, f] : further_) {
      for (index_t i = 0; i < 4; ++i) of_bytes[number * 4 + i] = f;
    }
    further_.swap(of_bytes);
    if (!readers_.empty()) {
      std::vector<touch> readers;
      readers.reserve(readers_.size() * 4);
      const std::ptrdiff_t count = num_warpgroups() + 1;
      for (auto r = readers_.begin(); r != readers_.end(); r += count) {
        for (index_t i = 0; i < 4; ++i) readers.insert(readers.end(), r, r + count);
      }
      readers_.swap(readers);
    }
    granule_shift_ = 0;
  }

  access_order* order_;
  call_places* places_;
  index_t wave_shift_;
  index_t first_thread_, block_size_;
  index_t granule_shift_ = 2;  // of four bytes or of one
  std::vector<granule> granules_;
  std::unordered_map<std::ptrdiff_t, further> further_;  // by granule
  std::vector<touch> readers_;            // of each granule: what each bulk_reader has read since it was written
  std::uint32_t block_time_ = 0;          // of the last block_sync
  index_t copies_ = 0;                    // under way
  bool has_others_ = false;               // have touched LDS than the block's threads
  touch from_elsewhere_{};                // the latest by a thread of another block
  std::vector<std::uint32_t> wave_time_;  // of each wave's last wave_sync
};

}  // namespace host
}  // namespace tilewright::exec
