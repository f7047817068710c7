// SPDX-License-Identifier: MIT
// Finds accesses of two threads to the same bytes of LDS with no barrier between, and reads of what was never written.
#pragma once

#include <tilewright/exec/host/fault.hpp>
#include <tilewright/exec/host/thread_context.hpp>
#include <tilewright/util/math.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tilewright::exec {
inline namespace host {

/// Remembers for every byte of a block's LDS who wrote it last and who has read it since. Barriers order accesses:
/// block_sync those of all threads, wave_sync those of a wave; nothing else does, so whether two accesses race does not
/// depend on the order in which the threads happened to run. Bytes are looked at in fours until the first access of
/// fewer than four.
class lds_checker {
 public:
  lds_checker(index_t wave_size, index_t block_size, index_t lds_bytes)
      : wave_shift_(index_t(std::countr_zero(unsigned(wave_size)))),
        granules_(std::size_t(lds_bytes + 3) / 4),
        wave_time_(std::size_t(block_size / wave_size)) {}

  /// LDS of a new block: nothing is written.
  void begin_block() {
    if (now_ > latest_begin || copies_ > 0) {
      std::fill(granules_.begin(), granules_.end(), granule{});
      std::fill(wave_time_.begin(), wave_time_.end(), 0u);
      now_ = 0;
      copies_ = 0;
    }
    begin_ = block_time_ = ++now_;
  }
  void block_sync() { block_time_ = ++now_; }
  void wave_sync(index_t wave) { wave_time_[std::size_t(wave)] = ++now_; }

  /// Takes note of an access that is inside of the allocation and aligned. Throws a fault if it races with an earlier
  /// one, reads what was never written, or touches what a copy under way will write. Returns the number of its place.
  unsigned access(const thread_context& self, lds_touch how, index_t address, index_t bytes, call_site where) {
    if (bytes < 4 && granule_shift_ != 0) look_at_single_bytes();
    const touch mine{now_, std::uint16_t(self.thread_id), number_of(where)};
    granule* const first = granules_.data() + (address >> granule_shift_);
    granule* const end = first + (bytes >> granule_shift_);
    switch (how) {
      case lds_touch::read:
        for (granule* g = first; g != end; ++g) {
          // Written in this block and before the last barrier, as a rule.
          if (g->write.time - begin_ >= block_time_ - begin_ || g->update.time >= block_time_) {
            check_writes(g, end, mine, self, "reads");
            check_updates(g, end, mine, self, "reads");
            check_written(g, end, mine, self, "reads");
          }
          note(g->read, g->other_read, mine);
        }
        break;
      case lds_touch::begin_copy: ++copies_; [[fallthrough]];
      case lds_touch::write:
        for (granule* g = first; g != end; ++g) {
          // Touched before the last barrier or never, as a rule.
          if (max(g->write.time, max(g->read.time, g->update.time)) >= block_time_) {
            check_writes(g, end, mine, self, "writes");
            check_updates(g, end, mine, self, "writes");
            check_reads(g, end, mine, self, "writes");
          }
          *g = {};
          g->write = mine;
          if (how == lds_touch::begin_copy) g->write.time = under_way;
        }
        break;
      case lds_touch::atomic_update:
        for (granule* g = first; g != end; ++g) {
          check_writes(g, end, mine, self, "updates");
          check_reads(g, end, mine, self, "updates");
          check_written(g, end, mine, self, "updates");
          note(g->update, g->other_update, mine);
        }
        break;
      case lds_touch::end_copy:
        --copies_;
        for (granule* g = first; g != end; ++g) g->write.time = now_;
        break;
    }
    return mine.place;
  }

  /// The lines that access() has seen, by number; number 0 is none of them.
  const std::vector<call_site>& places() const { return places_; }

 private:
  static constexpr std::uint32_t latest_begin = 0xf0000000, under_way = 0xffffffff;

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

  bool is_open(touch t) const { return t.time >= block_time_; }
  index_t wave_of(touch t) const { return t.thread >> wave_shift_; }
  bool ordered_in_wave(touch before, touch mine) const {
    return wave_of(before) == wave_of(mine) && before.time < wave_time_[std::size_t(wave_of(mine))];
  }
  bool races(touch before, touch mine) const {
    return is_open(before) && before.thread != mine.thread && !ordered_in_wave(before, mine);
  }

  void note(touch& newest, touch& other, touch mine) const {
    if (!is_open(newest)) {
      other = {};
    } else if (newest.thread != mine.thread) {
      const bool two_waves = is_open(other) && wave_of(other) != wave_of(mine);
      if (wave_of(newest) != wave_of(mine) || (!two_waves && !ordered_in_wave(newest, mine))) other = newest;
    }
    newest = mine;
  }

  void check_writes(const granule* g, const granule* end, touch mine, const thread_context& self,
                    const char* does) const {
    if (g->write.time == under_way) {
      throw fault(subject(self) + does + " LDS " + bytes_of(g, g + 1) + ' ' + at(mine) + " before the copy by thread " +
                  std::to_string(g->write.thread) + ' ' + at(g->write) + " to there was waited for");
    }
    if (races(g->write, mine)) refuse(&granule::write, g, end, mine, self, does, "wrote");
  }
  void check_updates(const granule* g, const granule* end, touch mine, const thread_context& self,
                     const char* does) const {
    if (races(g->update, mine)) refuse(&granule::update, g, end, mine, self, does, "updated");
    if (races(g->other_update, mine)) refuse(&granule::other_update, g, end, mine, self, does, "updated");
  }
  void check_reads(const granule* g, const granule* end, touch mine, const thread_context& self,
                   const char* does) const {
    if (races(g->read, mine)) refuse(&granule::read, g, end, mine, self, does, "read");
    if (races(g->other_read, mine)) refuse(&granule::other_read, g, end, mine, self, does, "read");
  }

  void check_written(const granule* g, const granule* end, touch mine, const thread_context& self,
                     const char* does) const {
    if (g->write.time >= begin_) return;
    const granule* rest = g + 1;
    while (rest != end && rest->write.time < begin_) ++rest;
    throw fault(subject(self) + does + " LDS " + bytes_of(g, rest) + ' ' + at(mine) + ", which nobody has written");
  }

  /// The granules from g on that the same earlier access makes a race of.
  [[noreturn]] void refuse(touch granule::* before, const granule* g, const granule* end, touch mine,
                           const thread_context& self, const char* does, const char* did) const {
    const touch other = g->*before;
    const granule* rest = g + 1;
    while (rest != end && rest->*before == other) ++rest;
    throw fault(subject(self) + does + " LDS " + bytes_of(g, rest) + ' ' + at(mine) + " that thread " +
                std::to_string(other.thread) + ' ' + did + ' ' + at(other) + " with no barrier between");
  }

  static std::string subject(const thread_context& self) {
    return "thread " + std::to_string(self.thread_id) + " of block " + to_string(self.block) + ' ';
  }
  std::string at(touch t) const { return '(' + to_string(places_[t.place]) + ')'; }
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
    granule_shift_ = 0;
  }

  std::uint16_t number_of(call_site where) {
    const std::size_t hash = (reinterpret_cast<std::uintptr_t>(where.file) >> 4) * 31 + std::size_t(where.line);
    known_place& known = known_[hash % num_known];
    if (known.file != where.file || known.line != where.line) known = {where.file, where.line, look_up(where)};
    return known.number;
  }
  std::uint16_t look_up(call_site where) {
    const auto same = [&](const call_site& p) { return p.file == where.file && p.line == where.line; };
    const auto place = std::find_if(places_.begin() + 1, places_.end(), same);
    const auto number = std::size_t(place - places_.begin());
    if (place == places_.end()) {
      if (number > 0xffff) throw fault("a kernel accesses LDS on more lines than can be told apart");
      places_.push_back(where);
    }
    return std::uint16_t(number);
  }

  struct known_place {
    const char* file = nullptr;
    int line = 0;
    std::uint16_t number = 0;
  };
  static constexpr std::size_t num_known = 256;

  index_t wave_shift_;
  index_t granule_shift_ = 2;  // of four bytes or of one
  std::vector<granule> granules_;
  // Times count barriers, over all blocks: what an earlier block did lies before begin_.
  std::uint32_t now_ = 0, begin_ = 0, block_time_ = 0;
  index_t copies_ = 0;                    // under way
  std::vector<std::uint32_t> wave_time_;  // of each wave's last wave_sync
  std::vector<call_site> places_{call_site{"", 0}};
  array<known_place, num_known> known_{};
};

}  // namespace host
}  // namespace tilewright::exec
