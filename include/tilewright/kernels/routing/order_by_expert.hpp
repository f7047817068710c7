// SPDX-License-Identifier: MIT
// Order of routed rows: which row goes where, so that the rows of each expert follow each other.
#pragma once

#include <tilewright/block/rows/row_cluster.hpp>
#include <tilewright/kernels/routing/routed_chunk.hpp>
#include <tilewright/launch/check_rows.hpp>

namespace tilewright {

namespace detail {

/// What the three kernels have in common.
template <class Arch, index_t MostExperts, bool LimitsRows>
struct order_kernel {
  using arch = Arch;
  using args_type = order_by_expert_args;
  using chunk = routed_chunk<Arch, MostExperts, LimitsRows>;
  static constexpr index_t block_size = chunk::block_size, lds_bytes = chunk::lds_bytes,
                           blocks_at_once = 1024 / block_size;
  static constexpr bool overlaps_previous = overlaps_previous_v<Arch>;
  static constexpr const char* check(const args_type&) { return nullptr; }
};

/// The last kernel: puts the entries where they belong.
template <class Arch, index_t MostExperts, bool LimitsRows>
struct position_by_expert : order_kernel<Arch, MostExperts, LimitsRows> {
  using typename order_kernel<Arch, MostExperts, LimitsRows>::chunk;
  static constexpr exec::block_index grid(const order_by_expert_args& args) {
    const index_t chunks = chunk::num_chunks(args.entries);
    return {chunks > 1 ? chunks : 0, 1, 1};
  }
  TILEWRIGHT_HD void operator()(const order_by_expert_args& args) const {
    overlap_kernels();
    const index_t chunks = chunk::num_chunks(args.entries), number = chunks - 1 - exec::block_id().x;
    array<index_t, chunk::owned> of_expert{}, before{};
    for (index_t i = 0; i < chunk::owned; ++i) {
      const index_t e = exec::thread_id() * chunk::owned + i;
      if (e >= args.experts) continue;
      if (chunks > chunk::few_parts) {
        before[i] = exec::load_element(args.counts + chunk::count_of(args, number, e));
        of_expert[i] = exec::load_element(args.counts + chunk::count_of(args, chunks, e));
        continue;
      }
      const auto all = exec::make_global_buffer(args.counts, chunks * args.experts * 4);
      for (index_t first = 0; first < chunks; first += 16) {
        TILEWRIGHT_UNROLL_ALL
        for (index_t p = first; p < first + 16; ++p) {
          const auto n = exec::buffer_load<index_t>(all, (p * args.experts + e) * 4);  // 0 after the last part
          of_expert[i] += n;
          before[i] += p < number ? n : 0;
        }
      }
    }
    chunk(args, exec::lds_allocate<chunk::lds_bytes>(), number).place_all(of_expert, before);
  }
};

/// The kernel between them, if there are many parts: a block replaces an expert's counts by their sums over earlier
/// parts.
template <class Arch, index_t MostExperts, bool LimitsRows>
struct sum_expert_counts : order_kernel<Arch, MostExperts, LimitsRows> {
  using followed_by = position_by_expert<Arch, MostExperts, LimitsRows>;
  using typename order_kernel<Arch, MostExperts, LimitsRows>::chunk;
  static constexpr index_t lds_bytes = chunk::sums_bytes, at_once = 4;

  static constexpr exec::block_index grid(const order_by_expert_args& args) {
    return {chunk::num_chunks(args.entries) > chunk::few_parts ? args.experts : 0, 1, 1};
  }
  TILEWRIGHT_HD void operator()(const order_by_expert_args& args) const {
    overlap_kernels();
    const auto lds = exec::lds_allocate<lds_bytes>();
    const index_t chunks = chunk::num_chunks(args.entries);
    const auto counts = exec::make_global_buffer(args.counts + chunk::count_of(args, 0, exec::block_id().x),
                                                 (chunks + 1) * 4);  // the last one receives the sum of all parts
    index_t sum = 0;
    for (index_t first = 0; first <= chunks; first += at_once * chunk::block_size) {
      array<index_t, at_once> n;
      index_t own = 0;
      TILEWRIGHT_UNROLL_ALL
      for (index_t i = 0; i < at_once; ++i) {
        const index_t p = first + exec::thread_id() * at_once + i;
        n[i] = exec::masked_load<index_t>(counts, p * 4, p < chunks);
        own += n[i];
      }
      const auto [lower, all] = chunk::sum_of_lower(lds, own).elements;
      index_t before = sum + lower;
      TILEWRIGHT_UNROLL_ALL
      for (index_t i = 0; i < at_once; ++i) {
        exec::buffer_store(counts, (first + exec::thread_id() * at_once + i) * 4, before);
        before += n[i];
      }
      sum += all;
      exec::block_sync();
    }
  }
};

}  // namespace detail

/// MostExperts of the kernel that suits a number of experts.
constexpr index_t choose_order_limit(index_t experts) {
  return experts <= 256 ? 256 : experts <= 1024 ? 1024 : experts <= 2048 ? 2048 : 4096;
}

/// MostExperts: an upper bound on the number of experts, a power of two; LDS is sized for it. Three kernels: each block
/// counts the experts of its part of the entries, a scan turns the counts of all blocks into offsets, and each block
/// scatters its part. One block does all of it where entries are few. LimitsRows: there is a capacity.
template <class Arch, index_t MostExperts = 1024, bool LimitsRows = false>
struct order_by_expert : detail::order_kernel<Arch, MostExperts, LimitsRows> {
  using followed_by = detail::sum_expert_counts<Arch, MostExperts, LimitsRows>;
  using typename detail::order_kernel<Arch, MostExperts, LimitsRows>::chunk;

  /// Rows of the workspace.
  static constexpr index_t workspace_rows(index_t num_entries) { return chunk::num_chunks(num_entries) + 1; }
  static const char* check(const order_by_expert_args& args) {
    if (args.entries < 1 || args.experts < 1) return "entries and experts must be positive";
    if (LimitsRows != (args.capacity > 0))
      return LimitsRows ? "capacity must be positive" : "a kernel with LimitsRows has a capacity, others have none: 0";
    if (args.experts > MostExperts) return "there are more experts than the kernel's MostExperts";
    if (args.entries > 0x7fffffff - 65536) return "entries is too close to 2^31";
    if (!args.expert || !args.ends || !args.source || !args.position || !args.counts)
      return "a pointer is null: expert, ends, source, position or counts";
    const index_t n = args.entries;
    const detail::row_matrix arrays[] = {detail::row_array(args.ends, args.experts), detail::row_array(args.source, n),
                                         detail::row_array(args.position, n),
                                         detail::row_array(args.counts, long_index_t{workspace_rows(n)} * args.experts),
                                         detail::row_array(args.expert, n)};
    return detail::check_results(arrays, 4);
  }
  static constexpr exec::block_index grid(const order_by_expert_args& args) {
    return {chunk::num_chunks(args.entries), 1, 1};
  }

  TILEWRIGHT_HD void operator()(const order_by_expert_args& args) const {
    detail::overlap_kernels();
    const auto lds = exec::lds_allocate<chunk::lds_bytes>();
    const chunk own(args, lds, exec::block_id().x);
    const index_t chunks = chunk::num_chunks(args.entries);
    own.count();
    array<index_t, chunk::owned> of_expert{};
    for (index_t i = 0; i < chunk::owned; ++i) {
      const index_t e = exec::thread_id() * chunk::owned + i;
      if (e >= args.experts) continue;
      of_expert[i] = exec::lds_load<index_t>(lds, own.shift_of(e));
      if (chunks > 1) exec::store_element(args.counts + chunk::count_of(args, exec::block_id().x, e), of_expert[i]);
    }
    if (chunks == 1) own.place_all(of_expert, {});
  }
};

}  // namespace tilewright
