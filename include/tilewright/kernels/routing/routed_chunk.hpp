// SPDX-License-Identifier: MIT
// Entries that order_by_expert sorts, and how a block sorts its part of them.
#pragma once

#include <tilewright/core/base/sequence.hpp>
#include <tilewright/machine/exec/exec.hpp>

namespace tilewright {

/// A stable counting sort of `entries` expert numbers, such as choose_experts writes. Entries whose expert is not in
/// first_expert to first_expert + experts - 1 go nowhere.
struct order_by_expert_args {
  const index_t* expert = nullptr;  ///< entries
  index_t* ends = nullptr;          ///< experts: where the rows of each expert end, as grouped GEMM takes it
  index_t* source = nullptr;        ///< entries: which entry each position has; -1 from the last end on
  index_t* position = nullptr;      ///< entries: the position of each entry; -1 if it goes nowhere
  index_t* counts = nullptr;        ///< workspace: order_by_expert::workspace_rows(entries) x experts
  /// entries of the list; experts of this GPU, and the number of the first
  index_t entries = 0, experts = 0, first_expert = 0;
  /// > 0, for kernels with LimitsRows: an expert takes its first `capacity` entries, later ones go nowhere.
  index_t capacity = 0;
};

namespace detail {

/// The part of the entries that the calling block has, at most a tile, and how it sorts them in LDS.
template <class Arch, index_t MostExperts, bool LimitsRows = false>
struct routed_chunk {
  static constexpr index_t block_size = MostExperts > 256 ? 256 : 512, wave = Arch::value.wave_size;
  static constexpr index_t waves = block_size / wave, of_thread = 16, group = 4, tile = block_size * of_thread,
                           owned = ceil_div(MostExperts, block_size);
  // Few entries are one part, others have parts of this length or of a tile, 1024 threads for each of an H100's
  // SMs. Few parts add up their counts themselves.
  static constexpr index_t least = 2048, most_parts = 132 * 1024 / block_size, few_parts = 32;
  // LDS: entries of a tile in order; what is added to a number in it; numbers in it of each wave's entries; sums.
  static constexpr index_t shifts = tile * 4, starts = shifts + MostExperts * 4,
                           sums = starts + waves * MostExperts * 2, sums_bytes = waves * 4,
                           limits = sums + sums_bytes,  // where the rows of each expert end, if they are limited
      lds_bytes = limits + (LimitsRows ? MostExperts * 4 : 0);
  static_assert(MostExperts >= 8 && MostExperts <= 4096 && is_power_of_two(MostExperts),
                "order_by_expert: MostExperts is a power of two, 8 to 4096");
  static_assert(lds_bytes <= Arch::value.lds_bytes,
                "order_by_expert: so many experts need more LDS than a block of this target has");
  using number_in_tile = unsigned short;

  const order_by_expert_args& args;
  const exec::lds_pointer lds;
  index_t first, length;

  TILEWRIGHT_HD static constexpr index_t num_chunks(index_t entries) {
    return max(min(most_parts, ceil_div(entries, least)), ceil_div(entries, tile));
  }
  TILEWRIGHT_HD routed_chunk(const order_by_expert_args& a, exec::lds_pointer memory, index_t number)
      : args(a), lds(exec::opaque(memory)) {
    const index_t each = round_up(ceil_div(args.entries, num_chunks(args.entries)), wave);  // whole sectors
    const long_index_t begin = long_index_t{number} * each;
    first = index_t(min(begin, long_index_t{args.entries}));
    length = min(each, args.entries - first);
  }
  /// Where args.counts has an expert's count in a part: those of one part follow each other where blocks read all of
  /// them, those of one expert where a kernel adds them up. Number `parts` is the sum of all parts.
  TILEWRIGHT_HD static long_index_t count_of(const order_by_expert_args& args, index_t chunk, index_t expert) {
    const index_t chunks = num_chunks(args.entries);
    return chunks > few_parts ? long_index_t{expert} * (chunks + 1) + chunk
                              : long_index_t{chunk} * args.experts + expert;
  }
  TILEWRIGHT_HD index_t shift_of(index_t expert) const { return shifts + expert * 4; }
  TILEWRIGHT_HD index_t start_of(index_t of_wave, index_t expert) const {
    return starts + (of_wave * MostExperts + expert) * 2;
  }
  /// How many entries of the part each expert has: in LDS, at shift_of(expert).
  TILEWRIGHT_HD void count() const {
    for (index_t e = exec::thread_id(); e < args.experts; e += block_size)
      exec::lds_store(lds, shift_of(e), index_t{0});
    exec::block_sync();
    const own_entries own(*this);
    own.for_each([&](index_t u) TILEWRIGHT_INLINE_LAMBDA {
      const index_t e = number_of(own, u);
      if (e >= 0) exec::lds_atomic<exec::atomic_op::add>(lds, shift_of(e), index_t{1});
    });
    exec::block_sync();
  }
  /// The sum of the values of all threads of lower number, and of all threads, by LDS of sums_bytes.
  TILEWRIGHT_HD static array<index_t, 2> sum_of_lower(exec::lds_pointer lds, index_t value) {
    index_t sum = value;
    unroll<log2_floor(wave)>([&](auto step) TILEWRIGHT_INLINE_LAMBDA {
      const index_t other = exec::shuffle(sum, exec::lane_id() - (1 << step.value));
      sum += exec::lane_id() >= 1 << step.value ? other : 0;
    });
    if (exec::lane_id() == wave - 1) exec::lds_store(lds, exec::wave_id() * 4, sum);
    exec::block_sync();
    array<index_t, 2> result{{sum - value, 0}};
    TILEWRIGHT_UNROLL_ALL
    for (index_t w = 0; w < waves; ++w) {
      const index_t of_wave = exec::lds_load<index_t>(lds, w * 4);
      result[0] += w < exec::wave_id() ? of_wave : 0;
      result[1] += of_wave;
    }
    return result;
  }
  /// How many earlier entries of its wave in the tile have the entry's expert, as `same` lanes do. Counted in LDS.
  TILEWRIGHT_HD index_t number_in_wave(index_t expert, exec::lane_mask same) const {
    const index_t counter = start_of(exec::wave_id(), max(expert, 0)),
                  number = exec::count_lower_lanes(same) + exec::lds_load<number_in_tile>(lds, counter);
    exec::wave_sync();
    if (expert >= 0 && same >> unsigned(exec::lane_id()) == 1)
      exec::lds_store(lds, counter, number_in_tile(number + 1));
    exec::wave_sync();
    return number;
  }
  /// Entries that the thread has: accesses of neighbouring entries follow each other in a wave.
  struct own_entries {
    index_t n, each, first;  // entries of the part; accesses of a thread, in groups; the number of its first entry
    array<index_t, of_thread> found;

    TILEWRIGHT_HD own_entries(const routed_chunk& chunk) : n(chunk.length) {
      each = round_up(ceil_div(n, block_size), group);
      first = exec::wave_id() * each * wave + exec::lane_id();
      const auto buffer = exec::make_global_buffer(chunk.args.expert + chunk.first, n * 4);
      for_each([&](index_t u)
                   TILEWRIGHT_INLINE_LAMBDA { found[u] = exec::buffer_load<index_t>(buffer, entry(u) * 4); });
    }
    TILEWRIGHT_HD index_t entry(index_t u) const { return first + u * wave; }
    /// f(u) for each access. No branch within a group, so that its accesses to LDS are in flight together.
    TILEWRIGHT_HD void for_each(auto f) const {
      TILEWRIGHT_UNROLL_ALL
      for (index_t u = 0; u < of_thread; u += group) {
        if (u >= each) continue;
        TILEWRIGHT_UNROLL_ALL
        for (index_t i = 0; i < group; ++i) f(u + i);
      }
    }
  };

  /// The expert's number from first_expert on; -1 if it is not routed.
  TILEWRIGHT_HD index_t number_of(const own_entries& own, index_t u) const {
    const auto number = index_t(unsigned(own.found[u]) - unsigned(args.first_expert));
    return own.entry(u) < own.n && unsigned(number) < unsigned(args.experts) ? number : -1;
  }

  /// Puts the entries of the part where they belong. The thread owns `owned` experts: how many entries each has, and
  /// how many of them are in parts before this one.
  TILEWRIGHT_HD void place_all(const array<index_t, owned>& of_expert, const array<index_t, owned>& before) const {
    own_entries own(*this);  // in flight meanwhile
    index_t all = 0;
    for (const index_t n : of_expert.elements) all += kept(n);
    const auto [lower, used] = sum_of_lower(lds + sums, all).elements;
    array<index_t, owned> next{};  // positions of the next entries
    index_t start = lower;
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < owned; ++i) {
      const index_t e = exec::thread_id() * owned + i;
      next[i] = start + before[i];
      start += kept(of_expert[i]);
      if (LimitsRows && e < args.experts) exec::lds_store(lds, limits + e * 4, start);
      if (first == 0 && e < args.experts) exec::store_element(args.ends + e, start);
    }
    const index_t sorted = sort(own, next), end = first + length;
    const auto positions = exec::make_global_buffer(args.position + first, length * 4);
    own.for_each([&](index_t u) TILEWRIGHT_INLINE_LAMBDA {
      const index_t found = own.found[u], e = max(found, 0) & 0xffff;
      const index_t number = (found >> 16) + exec::lds_load<number_in_tile>(lds, start_of(exec::wave_id(), e));
      const index_t position = number + exec::lds_load<index_t>(lds, shift_of(e));
      if (found >= 0) exec::lds_store(lds, number * 4, e << 16 | own.entry(u));
      exec::buffer_store(positions, own.entry(u) * 4, found < 0 || !is_kept(position, e) ? -1 : position);
    });
    exec::block_sync();
    TILEWRIGHT_UNROLL(4)
    for (index_t number = exec::thread_id(); number < sorted; number += block_size) {
      const index_t word = exec::lds_load<index_t>(lds, number * 4);
      const index_t position = number + exec::lds_load<index_t>(lds, shift_of(word >> 16));
      if (is_kept(position, word >> 16)) exec::store_element(args.source + position, first + (word & 0xffff));
    }
    for (index_t i = max(first, used) + exec::thread_id(); i < end; i += block_size)
      exec::store_element(args.source + i, -1);
  }
  /// How many of an expert's n entries have a row.
  TILEWRIGHT_HD index_t kept(index_t n) const { return LimitsRows ? min(n, args.capacity) : n; }
  TILEWRIGHT_HD bool is_kept(index_t position, index_t expert) const {
    if constexpr (!LimitsRows) return true;
    return position < exec::lds_load<index_t>(lds, limits + expert * 4);
  }
  /// Replaces experts of entries by experts and numbers in the wave << 16, negative if they are not routed; then
  /// LDS knows the numbers in the tile. Returns how many entries go somewhere.
  TILEWRIGHT_HD index_t sort(own_entries& own, const array<index_t, owned>& next) const {
    for (index_t e = 8 * exec::lane_id(); e < args.experts; e += 8 * wave)
      exec::lds_store(lds, start_of(exec::wave_id(), e), array<unsigned, 4>{});
    exec::wave_sync();
    array<exec::lane_mask, group> same;
    own.for_each([&](index_t u) TILEWRIGHT_INLINE_LAMBDA {
      for (index_t i = 0; u % group == 0 && i < group; ++i) {
        const index_t expert = own.found[u + i] = number_of(own, u + i);
        same[i] = exec::equal_lanes<log2_floor(MostExperts)>(expert) & exec::ballot(expert >= 0);
      }
      own.found[u] |= number_in_wave(own.found[u], same[u % group]) << 16;
    });
    exec::block_sync();
    const index_t sorted = find_starts(next);
    exec::block_sync();
    return sorted;
  }
  /// Turns counts of the waves into numbers in the tile. Returns how many entries go somewhere.
  TILEWRIGHT_HD index_t find_starts(const array<index_t, owned>& next) const {
    array<index_t, owned> of_expert{};
    index_t all = 0;
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < owned; ++i) {
      const index_t e = exec::thread_id() * owned + i;
      TILEWRIGHT_UNROLL_ALL
      for (index_t w = 0; w < waves && e < args.experts; ++w)
        of_expert[i] += exec::lds_load<number_in_tile>(lds, start_of(w, e));
      all += of_expert[i];
    }
    const auto [lower, sorted] = sum_of_lower(lds + sums, all).elements;
    index_t start = lower;
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < owned; ++i) {
      const index_t e = exec::thread_id() * owned + i;
      if (e >= args.experts) continue;
      exec::lds_store(lds, shift_of(e), next[i] - start);
      TILEWRIGHT_UNROLL_ALL
      for (index_t w = 0; w < waves; ++w) {
        const index_t of_wave = exec::lds_load<number_in_tile>(lds, start_of(w, e));
        exec::lds_store(lds, start_of(w, e), number_in_tile(start));
        start += of_wave;
      }
    }
    return sorted;
  }
};

}  // namespace detail

}  // namespace tilewright
