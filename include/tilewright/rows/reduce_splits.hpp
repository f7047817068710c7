// SPDX-License-Identifier: MIT
// The second kernel of a reduction whose results several blocks share.
#pragma once

#include <tilewright/rows/reduce_block.hpp>

namespace tilewright::detail {

/// The second kernel: combines the states that several blocks have of the same results.
template <class Arch, class T, class Result, reduce_kind Kind>
struct reduce_splits : reduce_block<Arch, T, Result, Kind> {
  using shared = reduce_block<Arch, T, Result, Kind>;
  using typename shared::args_type, typename shared::device_args;

  static const char* check(const args_type&) { return nullptr; }
  static exec::block_index grid(const device_args& args) {
    return {args.splits == 1 ? 0 : index_t(ceil_div(args.results(), long_index_t{args.of_splits.results()})), 1, 1};
  }
  TILEWRIGHT_HD void operator()(const device_args& args) const {
    overlap_kernels();
    const reduce_team& team = args.of_splits;
    const index_t slice = team.slice_of(exec::thread_id());
    const long_index_t result = long_index_t{exec::block_id().x} * team.results() + team.result_of(exec::thread_id());
    typename shared::state own[1];
    for (index_t split = slice; split < args.splits && result < args.results(); split += team.slices()) {
      array<unsigned, shared::words> bits;
      for (index_t w = 0; w < shared::words; ++w) bits[w] = *shared::word_of(args, split, result, w);
      own[0].merge(bit_cast<typename shared::state>(bits));
    }
    shared::combine(team, own, exec::lds_allocate<shared::lds_bytes>());
    if (slice != 0 || result >= args.results()) return;
    constexpr index_t max_vector = shared::max_vector;
    const index_t n = args.results_of_thread(), i = n == 1 ? 0 : index_t(result % max_vector);
    auto first = shared::first_of(args, n == 1 ? result : result / max_vector);
    if (i < first.skipped) return;
    first = {first.y + i * args.y_step, first.x, 0};
    shared::finish(args, own, first);
  }
};

}  // namespace tilewright::detail
