// SPDX-License-Identifier: MIT
// Reductions of a tensor along any of its dimensions: sum, mean, maximum with its position, mean and variance.
#pragma once

#include <tilewright/kernels/tensor/detail/reduce_traversal.hpp>

namespace tilewright {

namespace detail {

/// The second kernel: combines the states that several blocks have of the same results.
template <class Arch, class T, class Result, reduce_kind Kind>
struct reduce_splits : reduce_block<Arch, T, Result, Kind> {
  using shared = reduce_block<Arch, T, Result, Kind>;
  using typename shared::args_type, typename shared::device_args;
  static constexpr index_t lds_bytes = shared::combine_bytes(1);

  static const char* check(const args_type&) { return nullptr; }
  static exec::block_index grid(const device_args& args) {
    return {args.splits == 1 ? 0 : index_t(ceil_div(args.results(), long_index_t{args.of_splits.results()})), 1, 1};
  }
  TILEWRIGHT_HD void operator()(const device_args& args) const {
    const reduce_team& team = args.of_splits;
    const index_t slice = team.slice_of(exec::thread_id());
    const long_index_t result = long_index_t{exec::block_id().x} * team.results() + team.result_of(exec::thread_id());
    typename shared::state own[1];
    overlap_kernels();
    for (index_t split = slice; split < args.splits && result < args.results(); split += team.slices()) {
      array<unsigned, shared::words> bits;
      for (index_t w = 0; w < shared::words; ++w) bits[w] = exec::load_element(shared::word_of(args, split, result, w));
      own[0].merge(bit_cast<typename shared::state>(bits));
    }
    shared::combine(team, own, exec::lds_allocate<lds_bytes>());
    if (slice != 0 || result >= args.results()) return;
    constexpr index_t max_vector = shared::max_vector;
    const index_t n = args.results_of_thread(), i = n == 1 ? 0 : index_t(result % max_vector);
    auto first = shared::first_of(args, n == 1 ? result : result / max_vector);
    if (i < first.skipped) return;
    first = {first.y + i * args.y_step, first.x, 0};
    shared::finish(args, own, first);
  }
};

}  // namespace detail

/// Sums are those of floats. A maximum of numbers and NaN is that of the numbers; NaN alone give NaN and position 2^31
/// - 1.
template <class Arch, class T, reduce_kind Kind, class Result = float>
struct reduce_tensor : detail::reduce_traversal<Arch, T, Result, Kind> {
  using traversal = detail::reduce_traversal<Arch, T, Result, Kind>;
  using shared = detail::reduce_block<Arch, T, Result, Kind>;
  using typename traversal::args_type, typename traversal::device_args, typename traversal::state;
  using followed_by = detail::reduce_splits<Arch, T, Result, Kind>;
  using traversal::max_vector;
  static constexpr index_t blocks_at_once = 3;  ///< blocks of an SM

  static const char* check(const args_type& args) {
    if (const char* why = detail::check_tensor(args.x)) return why;
    if (const char* why = detail::check_tensor(args.y)) return why;
    if (args.x.dims != args.y.dims) return "x and y must have as many dimensions: a reduced one has length 1 in y";
    long_index_t reduced = 1;
    for (index_t d = 0; d < args.x.dims; ++d) {
      if (args.y.lengths[d] == 1) reduced *= args.x.lengths[d];
      if (args.y.lengths[d] != 1 && args.y.lengths[d] != args.x.lengths[d])
        return "the lengths of y must be those of x, or 1 where x is reduced";
    }
    if (reduced > 0x7fffffff - 4096)
      return "almost 2^31 elements or more are reduced to one: reduce some dimensions first";
    if (detail::has_shared_elements(args.y.dims, args.y.lengths, args.y.strides))
      return "the result's strides overlap: two elements would have one address";
    if ((Kind == reduce_kind::mean_variance) != (args.variance != nullptr))
      return "variance must be given for mean_variance, and only for it";
    if (args.position && Kind != reduce_kind::maximum) return "only a maximum has a position";
    const auto span = detail::span_of(args.y);
    const detail::row_matrix memory[] = {detail::row_array(args.y.data, span), detail::row_array(args.variance, span),
                                         detail::row_array(args.position, span),
                                         detail::row_array(args.x.data, detail::span_of(args.x))};
    if (const char* why = detail::check_results(memory, 3)) return why;
    if (!detail::is_aligned(args.workspace, 4)) return "the workspace is not aligned to 4 bytes";
    if (shared::plan(args, false).groups() > 0xffffff)  // HIP: fewer than 2^32 threads along x
      return "there are too many results";
    return nullptr;
  }
  /// How much memory lets all of the GPU work on few results; 0 if there is nothing to gain.
  static long_index_t workspace_bytes(const args_type& args) {
    const auto plan = shared::plan(args, true);
    return plan.splits == 1 ? 0 : plan.splits * plan.results() * long_index_t(sizeof(typename shared::state));
  }
  /// Blocks of the launch: groups of results, splits of what is reduced.
  static exec::block_index grid(const device_args& args) { return {index_t(args.groups()), args.splits, 1}; }

  /// One block.
  TILEWRIGHT_HD void operator()(const device_args& args) const {
    if (args.vector == 1 && args.starts != detail::row_starts::ragged) return run<1, 1>(args);
    if (args.team.is_along) return run<1, max_vector>(args);
    run<max_vector, 1>(args);
  }

 private:
  /// Results of a thread x elements of an access along each; one of the two is 1.
  template <index_t Results, index_t Along>
  TILEWRIGHT_HD static void run(const device_args& args) {
    constexpr bool is_vector = Results * Along > 1;
    const index_t thread = exec::thread_id(), slice = args.team.slice_of(thread);
    const index_t group = exec::block_id().x, split = exec::block_id().y;
    const auto lds = exec::lds_allocate<shared::lds_bytes>();
    const long_index_t of_kept = long_index_t{group} * args.team.results() + args.team.result_of(thread);
    const bool exists = of_kept < args.kept.iterations;
    const auto first = shared::first_of(args, exists ? of_kept : 0);
    const auto row = shared::parts_of(args, first.x);
    const auto load_end = [&](index_t i) TILEWRIGHT_INLINE_LAMBDA {
      const long_index_t at = first.x + row.number_of_end(i) * long_index_t(sizeof(T));
      return exists && i < row.ends ? shared::template load<T>(args, at) : T{};
    };
    const index_t end = index_t(min(long_index_t{split + 1} * args.part - row.skipped, long_index_t{row.accesses}));
    const index_t from = exists ? split * args.part + slice - row.skipped : end;
    detail::overlap_kernels();
    index_t of_ends = split * args.team.slices() + slice;
    T end_of_row = load_end(of_ends);  // in flight while the thread adds vectors

    state own[Results];
    const long_index_t start = first.x + row.before * index_t(sizeof(T));
    if (is_vector && args.starts == detail::row_starts::anywhere) {
      if constexpr (is_vector) traversal::template accumulate<Along, false, false>(args, start, 0, from, end, own, lds);
    } else if (shared::can_copy && is_vector && args.is_copied) {
      if constexpr (shared::can_copy && is_vector)
        traversal::template accumulate<Along, true, true>(args, start, row.before, from, end, own, lds);
    } else {
      traversal::template accumulate<Along, true, false>(args, start, row.before, from, end, own, lds);
    }
    TILEWRIGHT_UNROLL(1)
    while (exists && of_ends < row.ends) {
      state one;
      one.template add<false>(
          detail::reduce_chunk<1, 1>{{{type_convert<float>(end_of_row)}}, {row.number_of_end(of_ends)}, {0}, {1}});
      own[0].merge(one);
      end_of_row = load_end(of_ends += args.splits * args.team.slices());
    }
    shared::combine(args.team, own, lds);
    if (slice != 0 || !exists) return;
    if (args.splits == 1) return shared::finish(args, own, first);
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < Results; ++i) {
      const auto bits = bit_cast<array<unsigned, shared::words>>(own[i]);
      TILEWRIGHT_UNROLL_ALL
      for (index_t w = 0; w < shared::words; ++w)
        exec::store_element(shared::word_of(args, split, of_kept * Results + i, w), bits[w]);
    }
  }
};

}  // namespace tilewright
