// SPDX-License-Identifier: MIT
// Combines threads' LDS accesses into instructions of their waves, and counts the instructions' cost.
#pragma once

#include <tilewright/core/lds/bank_conflicts.hpp>
#include <tilewright/machine/emulator/counting/launch_report.hpp>
#include <tilewright/machine/emulator/threads/thread_context.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tilewright::emulator {

/// Logs the accesses of threads between two rendezvous. The next accesses in the logs of a wave's lanes are one
/// instruction if they are of one kind (and on one line, where lines are known). If they differ, some lanes have
/// skipped instructions that others executed. Then a kind that no other lane reaches later is counted first, for the
/// lanes that are at it.
class lds_recorder {
 public:
  /// `threads`: of a cluster.
  lds_recorder(const arch::target& target, index_t threads)
      : target_(target), waves_(std::size_t(threads / target.wave_size)), known_(num_known) {
    for (wave_log& wave : waves_) wave.entries.resize(std::size_t(initial_rows * target.wave_size));
  }

  /// Gives a thread an empty log.
  void attach(thread_context& thread) {
    wave_log& wave = waves_[std::size_t(thread.wave_number)];
    thread.log_stride = target_.wave_size;
    thread.log = wave.entries.data() + thread.lane_id;
    thread.log_end = wave.entries.data() + wave.entries.size() + thread.lane_id;
  }

  /// Whether the thread, whose log is full, has repeated one access for a long time.
  bool repeats_itself(const thread_context& thread) const {
    constexpr index_t many = 1 << 15;
    const index_t rows = index_t(waves_[std::size_t(thread.wave_number)].entries.size()) / thread.log_stride;
    for (index_t i = 1; rows >= 2 * many && i <= many; ++i) {
      if (thread.log[-i * thread.log_stride] != thread.log[-thread.log_stride]) return false;
    }
    return rows >= 2 * many;
  }

  /// Makes room for more accesses of a wave; lanes points to the wave's threads.
  void extend(thread_context* lanes) {
    wave_log& wave = waves_[std::size_t(lanes->wave_number)];
    const std::uint64_t* before = wave.entries.data();
    std::vector<std::uint64_t> longer(wave.entries.size() * 2);
    std::copy(wave.entries.begin(), wave.entries.end(), longer.begin());
    for (index_t i = 0; i < target_.wave_size; ++i) {
      lanes[i].log = longer.data() + (lanes[i].log - before);
      lanes[i].log_end = longer.data() + longer.size() + i;
    }
    wave.entries.swap(longer);
  }

  /// Counts what the wave's lanes have recorded, and empties their logs.
  void account(thread_context* lanes) {
    const index_t wave_size = target_.wave_size;
    uncounted log{.stride = wave_size};
    for (index_t i = 0; i < wave_size; ++i) {
      log.next[i] = waves_[std::size_t(lanes->wave_number)].entries.data() + i;
      log.end[i] = lanes[i].log;
      log.lanes |= std::uint64_t{log.next[i] != log.end[i]} << i;
    }
    if (log.lanes == 0) return;
    while (log.lanes != 0) {
      const unsigned kind = log.next_kind();
      const std::uint64_t active = log.lanes_at(kind);
      lds_addresses address;
      for (index_t i = 0; i < 64; ++i) address[i] = active >> i & 1 ? log.take(i) : -1;
      count(kind >> place_shift, static_cast<arch::lds_op>(kind & ((1u << place_shift) - 1)), address);
    }
    for (index_t i = 0; i < wave_size; ++i) attach(lanes[i]);
  }

  /// By place, and there by operation.
  const std::vector<array<lds_counts, arch::num_lds_ops>>& counts() const { return counts_; }

 private:
  static constexpr index_t place_shift = 32 - thread_context::log_address_bits;
  static constexpr index_t initial_rows = 64;
  static constexpr std::size_t num_known = 256;

  struct wave_log {
    std::vector<std::uint64_t> entries;  // row after row, an entry per lane in each
  };
  /// What is left of the logs of a wave's lanes.
  struct uncounted {
    index_t stride;
    std::uint64_t lanes = 0;  // that have something left
    array<const std::uint64_t*, 64> next{}, end{};

    /// Place and operation.
    static unsigned kind_of(std::uint64_t entry) { return unsigned(entry >> thread_context::log_address_bits); }

    std::uint64_t lanes_at(unsigned kind) const {
      std::uint64_t mask = 0;
      for (std::uint64_t rest = lanes; rest != 0; rest &= rest - 1) {
        const index_t i = std::countr_zero(rest);
        mask |= std::uint64_t{kind_of(*next[i]) == kind} << i;
      }
      return mask;
    }

    bool comes_later(unsigned kind, std::uint64_t among) const {
      constexpr index_t look_ahead = 16;  // entries
      for (; among != 0; among &= among - 1) {
        const index_t i = std::countr_zero(among);
        const std::uint64_t* entry = next[i];
        for (index_t n = 0; n < look_ahead && entry != end[i]; ++n, entry += stride) {
          if (kind_of(*entry) == kind) return true;
        }
      }
      return false;
    }

    unsigned next_kind() const {
      for (std::uint64_t rest = lanes; rest != 0;) {
        const unsigned kind = kind_of(*next[std::countr_zero(rest)]);
        const std::uint64_t here = lanes_at(kind);
        if (!comes_later(kind, lanes & ~here)) return kind;
        rest &= ~here;
      }
      return kind_of(*next[std::countr_zero(lanes)]);
    }

    index_t take(index_t lane) {
      const index_t address = index_t(*next[lane] & ((1u << thread_context::log_address_bits) - 1));
      next[lane] += stride;
      if (next[lane] == end[lane]) lanes &= ~(std::uint64_t{1} << lane);
      return address;
    }
  };
  struct known_pattern {
    lds_addresses address{};
    index_t op = -1;
    lds_counts cost;
  };

  /// A loop repeats its address patterns, often at another place in LDS. Moving all addresses by whole rows of banks
  /// does not change the cost, so patterns are compared relative to the row of the lowest address.
  void count(std::size_t site, arch::lds_op op, lds_addresses& address) {
    constexpr index_t row_bytes = 64 * arch::lds_bank_bytes;
    unsigned lowest = ~0u;
    for (const index_t a : address) lowest = min(lowest, unsigned(a));
    const index_t shift = index_t(lowest) & ~(row_bytes - 1);
    std::uint64_t hash = std::uint64_t(op);
    for (index_t& a : address) {
      if (a >= 0) a -= shift;
      hash = (hash ^ unsigned(a)) * 0x9e3779b97f4a7c15u;
    }
    known_pattern& known = known_[hash >> 56];
    if (known.op != index_t(op) || !(known.address == address)) {
      const lds_access_cost cost = lds_cost(target_, op, address);
      known = {address, index_t(op), {1, cost.phases, cost.cycles, cost.conflicts, cost.worst_degree}};
    }
    if (site >= counts_.size()) counts_.resize(site + 1);
    counts_[site][index_t(op)].add(known.cost);
  }

  const arch::target& target_;
  std::vector<wave_log> waves_;
  std::vector<known_pattern> known_;
  std::vector<array<lds_counts, arch::num_lds_ops>> counts_;
};

}  // namespace tilewright::emulator
