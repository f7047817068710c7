// SPDX-License-Identifier: MIT
// Shadow of a block's LDS: who accessed each byte last, and what happens before a new access.
#pragma once

#include <tilewright/machine/emulator/fault.hpp>
#include <tilewright/machine/emulator/lds/access_order.hpp>
#include <tilewright/machine/emulator/threads/thread_context.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tilewright::emulator {

/// Records for every byte of a block's LDS who wrote it last and who has read it since. Only barriers order accesses:
/// block_sync those of all threads, wave_sync those of a wave, others as access_order says. So whether two accesses
/// race does not depend on the order in which the threads happened to run. There is one record for 4 bytes until the
/// first access of fewer than 4.
class lds_history {
 public:
  /// For one block of a cluster. `order`: the happens-before relation of the cluster.
  lds_history(access_order& order, call_sites& sites, index_t wave_size, index_t block, index_t block_size,
              index_t lds_bytes)
      : order_(&order),
        sites_(&sites),
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
    late_.clear();
    block_time_ = order_->begin();
    from_elsewhere_ = {};
  }
  /// Accesses that a thread has not waited for count as made after the barrier; lanes of its own wave see them in
  /// order.
  void block_sync(thread_context* threads) {
    order_->meet(first_thread_, block_size_);
    block_time_ = order_->tick();
    late_.clear();
    for (index_t t = 0; t < block_size_; ++t)
      threads[t].recent.for_each_in_flight([&](recent_access& a) { move_after_barrier(threads[t], a); });
    if (late_.empty()) return;
    for (std::size_t wave = 0; wave < wave_time_.size(); ++wave) wave_sync(index_t(wave));
  }
  /// The lanes of a wave synchronise: what they did happens before what they do next.
  void wave_sync(index_t wave) {
    const index_t lanes = 1 << wave_shift_;
    order_->meet(first_thread_ + wave * lanes, lanes);
    wave_time_[std::size_t(wave)] = order_->tick();
  }

  /// The time before which all accesses of one thread of the block happen before those of another one.
  std::uint32_t known_before(index_t thread, index_t other) const {
    const index_t wave = (other - first_thread_) >> wave_shift_;
    const bool same = (thread - first_thread_) >> wave_shift_ == wave;
    return same ? max(block_time_, wave_time_[std::size_t(wave)]) : block_time_;
  }

  /// Whether what a thread of the cluster did at a time happens before the next access of a thread of this block.
  bool is_over(index_t mine, index_t other, std::uint32_t time) const {
    touch before{time, std::uint16_t(other), 0};
    if (!is_of_block(before)) before.time |= others;
    return !races(before, {0, std::uint16_t(mine), 0});
  }

  /// The block's warpgroups, which read LDS asynchronously.
  index_t num_warpgroups() const { return (block_size_ + 127) / 128; }

 protected:
  static constexpr std::uint32_t in_flight = 0xffffffff;
  /// Set in the time of accesses by others than the block's threads: the block's barrier does not order those.
  static constexpr std::uint32_t others = 0x80000000;

  struct touch {
    std::uint32_t time = 0;  // number of barriers before it; 0: no access
    std::uint16_t thread = 0;
    std::uint16_t site = 0;

    friend bool operator==(touch, touch) = default;
  };
  /// The last write, and enough of the later reads to know whether a write races with any of them: the newest read, and
  /// one by another thread (of another wave if there is one) that does not happen before it. Likewise for atomic
  /// updates, which do not race with each other.
  struct granule {
    touch write, read, other_read, update, other_update;
  };
  /// Further accesses, where two do not suffice because threads synchronise in other ways than block_sync and
  /// wave_sync. Stores: TMA stores of several threads that nothing orders.
  struct further {
    std::vector<touch> reads, updates, stores;
  };

  touch touch_of(const thread_context& self, call_site where) {
    touch t{order_->now(), std::uint16_t(self.number), sites_->number_of(where)};
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

  /// Whether what was found out about `before` holds for g, too: usually one access wrote both.
  bool has_history_of(const granule& g, const granule& before) const {
    return further_.empty() && __builtin_memcmp(&g, &before, sizeof(granule)) == 0;
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
    // If not only block_sync and wave_sync order accesses, all that do not happen before the new one are kept.
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

  void move_after_barrier(const thread_context& self, recent_access& a) {
    const touch before{a.time, std::uint16_t(self.number), a.site}, now{order_->now(), before.thread, a.site};
    a.time = now.time;
    late_.push_back(now);
    granule* const first = granule_at(index_t(a.address));
    for (granule* g = first; g != first + (a.bytes >> granule_shift_); ++g) {
      if (a.how == lds_touch::read) note(g, &granule::read, &granule::other_read, &further::reads, now);
      if (a.how == lds_touch::write && g->write == before) g->write = now;
      if (a.how == lds_touch::atomic_update) note(g, &granule::update, &granule::other_update, &further::updates, now);
    }
  }
  /// Whether the access was in flight at the latest barrier of the block, and still is.
  bool is_late(touch t) const { return std::find(late_.begin(), late_.end(), t) != late_.end(); }

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
  call_sites* sites_;
  index_t wave_shift_;
  index_t first_thread_, block_size_;
  index_t granule_shift_ = 2;  // of four bytes or of one
  std::vector<granule> granules_;
  std::unordered_map<std::ptrdiff_t, further> further_;  // by granule
  std::vector<touch> readers_;            // of each granule: what each bulk_reader has read since it was written
  std::uint32_t block_time_ = 0;          // of the last block_sync
  index_t copies_ = 0;                    // in flight
  bool has_others_ = false;               // whether others than the block's threads have accessed LDS
  touch from_elsewhere_{};                // the latest by a thread of another block
  std::vector<touch> late_;               // accesses in flight at the latest barrier
  std::vector<std::uint32_t> wave_time_;  // of each wave's last wave_sync
};

}  // namespace tilewright::emulator
