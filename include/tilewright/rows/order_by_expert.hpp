// SPDX-License-Identifier: MIT
// Order of routed rows: which row goes where, so that the rows of each expert follow each other.
#pragma once

#include <tilewright/exec/exec.hpp>
#include <tilewright/rows/check_rows.hpp>
#include <tilewright/rows/row_cluster.hpp>
#include <tilewright/util/sequence.hpp>

namespace tilewright {

/// A stable counting sort of `entries` expert numbers, such as choose_experts writes. Entries whose expert is not in
/// first_expert to first_expert + experts - 1 go nowhere.
struct order_by_expert_args {
  const index_t* expert = nullptr;  // entries
  index_t* ends = nullptr;          // experts: where the rows of each expert end, as grouped products take it
  index_t* source = nullptr;        // entries: which entry each place has; -1 from the last end on
  index_t* place = nullptr;         // entries: the place of each entry; -1 if it goes nowhere
  index_t* counts = nullptr;        // workspace: order_by_expert::num_parts(entries) x experts
  index_t entries = 0, experts = 0, first_expert = 0;
};

namespace detail {

/// The entries of the calling wave. A block has a part of all entries, each of its waves a part of that.
template <class Arch>
struct routed_entries {
  static constexpr index_t most_experts = 1024, block_size = 256, wave = Arch::value.wave_size,
                           waves = block_size / wave;
  static constexpr index_t most_parts = 128, most_owned = most_experts / block_size,
                           count_bytes = waves * most_experts * 4;

  const order_by_expert_args& args;
  index_t first, end;

  TILEWRIGHT_HD static constexpr index_t num_parts(index_t entries) {
    return max(1, min(most_parts, ceil_div(entries, 1024)));
  }
  static constexpr exec::block_index grid(const order_by_expert_args& args) { return {num_parts(args.entries), 1, 1}; }

  TILEWRIGHT_HD explicit routed_entries(const order_by_expert_args& a) : args(a) {
    const index_t of_wave = round_up(ceil_div(args.entries, num_parts(args.entries) * waves), wave);
    const long_index_t begin = (long_index_t{exec::block_id().x} * waves + exec::wave_id()) * of_wave;
    first = index_t(min(begin, long_index_t{args.entries}));
    end = index_t(min(begin + of_wave, long_index_t{args.entries}));
  }
  TILEWRIGHT_HD static index_t lds_place(index_t of_wave, index_t expert) {
    return (of_wave * most_experts + expert) * 4;
  }
  /// The expert of entry `from` + lane, counted from first_expert; -1 if there is none.
  TILEWRIGHT_HD index_t expert_of(index_t from) const {
    const index_t entry = from + exec::lane_id();
    const exec::global_buffer buffer = exec::make_global_buffer(args.expert, long_index_t{args.entries} * 4);
    const index_t expert = exec::buffer_load<index_t>(buffer, long_index_t{entry} * 4) - args.first_expert;
    return entry < end && expert >= 0 && expert < args.experts ? expert : -1;
  }
  /// How many entries of each expert each wave has: count_bytes of LDS.
  TILEWRIGHT_HD void count(exec::lds_pointer lds) const {
    for (index_t i = exec::thread_id(); i < waves * most_experts; i += block_size)
      exec::lds_store(lds, i * 4, index_t{0});
    exec::block_sync();
    constexpr index_t in_flight = 4;
    TILEWRIGHT_UNROLL(1)
    for (index_t from = first; from < end; from += in_flight * wave) {
      index_t expert[in_flight];
      TILEWRIGHT_UNROLL_ALL
      for (index_t u = 0; u < in_flight; ++u) expert[u] = expert_of(from + u * wave);
      TILEWRIGHT_UNROLL_ALL
      for (const index_t e : expert) {
        if (e >= 0) exec::lds_atomic<exec::atomic_op::add>(lds, lds_place(exec::wave_id(), e), index_t{1});
      }
    }
    exec::block_sync();
  }
  /// Replaces these counts by the place of the wave's first entry of each expert, and returns how many entries go
  /// somewhere. 4 bytes of LDS for each wave, and 4 more.
  TILEWRIGHT_HD index_t find_starts(exec::lds_pointer lds, exec::lds_pointer sums) const {
    const index_t thread = exec::thread_id(), lane = exec::lane_id(), parts = num_parts(args.entries);
    const index_t owned = ceil_div(args.experts, block_size), block = exec::block_id().x;
    array<index_t, most_owned> total{}, before{};
    index_t all = 0;
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < most_owned; ++i) {  // registers have constant numbers
      const index_t expert = i < owned ? thread * owned + i : args.experts;
      TILEWRIGHT_UNROLL(32)
      for (index_t part = 0; part < parts && expert < args.experts; ++part) {
        const index_t n = args.counts[part * args.experts + expert];
        total[i] += n;
        before[i] += part < block ? n : 0;
      }
      all += total[i];
    }
    // Entries of experts of lower number: of this wave's lower lanes, then of the waves before.
    index_t sum = all;
    unroll<log2_floor(wave)>([&](auto step) TILEWRIGHT_INLINE_LAMBDA {
      const index_t other = exec::shuffle(sum, lane - (1 << step.value));
      sum += lane >= 1 << step.value ? other : 0;
    });
    if (lane == wave - 1) exec::lds_store(sums, exec::wave_id() * 4, sum);
    exec::block_sync();
    index_t start = sum - all;
    for (index_t other = 0; other < exec::wave_id(); ++other) start += exec::lds_load<index_t>(sums, other * 4);
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < most_owned; ++i) {
      const index_t expert = thread * owned + i;
      if (i >= owned || expert >= args.experts) continue;
      index_t next = start + before[i];
      for (index_t w = 0; w < waves; ++w) {
        const index_t n = exec::lds_load<index_t>(lds, lds_place(w, expert));
        exec::lds_store(lds, lds_place(w, expert), next);
        next += n;
      }
      start += total[i];
      if (block == 0) args.ends[expert] = start;
    }
    if (thread == block_size - 1) exec::lds_store(sums, waves * 4, start);
    exec::block_sync();
    return exec::lds_load<index_t>(sums, waves * 4);
  }
};

/// Puts each entry where it belongs.
template <class Arch>
struct place_by_expert {
  using arch = Arch;
  using args_type = order_by_expert_args;
  using entries = routed_entries<Arch>;
  static constexpr index_t block_size = entries::block_size, lds_bytes = entries::count_bytes + entries::waves * 4 + 4;
  static constexpr bool overlaps_previous = overlaps_previous_v<Arch>;

  static constexpr const char* check(const args_type&) { return nullptr; }
  static constexpr exec::block_index grid(const args_type& args) { return entries::grid(args); }

  TILEWRIGHT_HD void operator()(const args_type& args) const {
    overlap_kernels();
    const auto lds = exec::lds_allocate<lds_bytes>();
    const entries own(args);
    own.count(lds);
    const index_t used = own.find_starts(lds, lds + entries::count_bytes), lane = exec::lane_id();
    index_t next = own.expert_of(own.first);
    TILEWRIGHT_UNROLL(1)
    for (index_t from = own.first; from < own.end; from += entries::wave) {
      const index_t expert = next, entry = from + lane;
      next = own.expert_of(from + entries::wave);  // in flight meanwhile
      const index_t counter = entries::lds_place(exec::wave_id(), expert);
      index_t place = expert < 0 ? -1 : exec::lds_load<index_t>(lds, counter);
      for (index_t other = 0; other < entries::wave; ++other) {
        const index_t its = exec::shuffle(expert, other);
        place += expert >= 0 && other < lane && its == expert ? 1 : 0;
      }
      exec::wave_sync();
      if (expert >= 0) exec::lds_atomic<exec::atomic_op::add>(lds, counter, index_t{1});
      exec::wave_sync();
      if (entry >= own.end) continue;
      args.place[entry] = place;
      if (place >= 0) args.source[place] = entry;
      if (entry >= used) args.source[entry] = -1;
    }
  }
};

}  // namespace detail

/// Two kernels: blocks count the experts of their entries, then each adds up what comes before its own.
template <class Arch>
struct order_by_expert {
  using arch = Arch;
  using args_type = order_by_expert_args;
  using followed_by = detail::place_by_expert<Arch>;
  using entries = detail::routed_entries<Arch>;
  static constexpr index_t block_size = entries::block_size, lds_bytes = entries::count_bytes;
  static constexpr bool overlaps_previous = detail::overlaps_previous_v<Arch>;

  /// Rows of the workspace.
  static constexpr index_t num_parts(index_t num_entries) { return entries::num_parts(num_entries); }
  /// What this kernel cannot do with these arguments, as a sentence; nullptr when it can.
  static const char* check(const args_type& args) {
    if (args.entries < 1 || args.experts < 1) return "entries and experts must be positive";
    if (args.experts > entries::most_experts) return "there are more than 1024 experts";
    if (args.entries > 0x7fffffff - 65536) return "entries is too close to 2^31";
    if (!args.expert || !args.ends || !args.source || !args.place || !args.counts)
      return "a pointer is null: expert, ends, source, place or counts";
    const index_t n = args.entries;
    const detail::row_matrix arrays[] = {
        detail::row_array(args.ends, args.experts), detail::row_array(args.source, n), detail::row_array(args.place, n),
        detail::row_array(args.counts, num_parts(n) * args.experts), detail::row_array(args.expert, n)};
    return detail::check_results(arrays, 4);
  }
  static constexpr exec::block_index grid(const args_type& args) { return entries::grid(args); }

  TILEWRIGHT_HD void operator()(const args_type& args) const {
    detail::overlap_kernels();
    const auto lds = exec::lds_allocate<lds_bytes>();
    entries(args).count(lds);
    for (index_t expert = exec::thread_id(); expert < args.experts; expert += block_size) {
      index_t n = 0;
      for (index_t w = 0; w < entries::waves; ++w) n += exec::lds_load<index_t>(lds, entries::lds_place(w, expert));
      args.counts[exec::block_id().x * args.experts + expert] = n;
    }
  }
};

}  // namespace tilewright
