// SPDX-License-Identifier: MIT
// Reductions of a tensor along any of its dimensions: sum, mean, maximum with its position, mean and variance.
#pragma once

#include <tilewright/numeric/vector.hpp>
#include <tilewright/rows/reduce_block.hpp>

namespace tilewright {

namespace detail {

/// The second kernel: combines the states that several blocks have of the same results.
template <class Arch, class T, class Result, reduce_kind Kind>
struct reduce_splits {
  using arch = Arch;
  using shared = reduce_block<Arch, T, Result, Kind>;
  using args_type = reduce_args<T, Result>;
  using device_args = typename shared::device_args;
  static constexpr index_t block_size = shared::block_size, lds_bytes = shared::lds_bytes;

  static const char* check(const args_type&) { return nullptr; }
  static device_args prepare(const args_type& args, const auto&) { return shared::prepare(args); }
  static exec::block_index grid(const device_args& args) {
    return {args.splits == 1 ? 0 : index_t(ceil_div(args.results(), long_index_t{args.of_splits.results()})), 1, 1};
  }
  TILEWRIGHT_HD void operator()(const device_args& args) const {
    const reduce_team& team = args.of_splits;
    const index_t slice = team.slice_of(exec::thread_id());
    const long_index_t result = long_index_t{exec::block_id().x} * team.results() + team.result_of(exec::thread_id());
    typename shared::state own[1];
    for (index_t split = slice; split < args.splits && result < args.results(); split += team.slices) {
      array<unsigned, shared::words> bits;
      for (index_t w = 0; w < shared::words; ++w) bits[w] = *shared::word_of(args, split, result, w);
      own[0].merge(bit_cast<typename shared::state>(bits));
    }
    shared::combine(team, own);
    if (slice == 0 && result < args.results()) shared::finish(args, own[0], result);
  }
};

}  // namespace detail

/// Sums are those of floats. For a maximum a NaN counts as -infinity.
template <class Arch, class T, reduce_kind Kind, class Result = float>
struct reduce_tensor {
  using arch = Arch;
  using args_type = reduce_args<T, Result>;
  using shared = detail::reduce_block<Arch, T, Result, Kind>;
  using device_args = typename shared::device_args;
  using followed_by = detail::reduce_splits<Arch, T, Result, Kind>;
  static constexpr index_t block_size = shared::block_size, lds_bytes = shared::lds_bytes;
  static constexpr index_t max_vector = shared::max_vector;
  static constexpr index_t in_flight = 4, blocks_at_once = 4;

  /// What this kernel cannot do with these arguments, as a sentence; nullptr when it can.
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
    if (detail::has_shared_elements(args.y)) return "the result's strides overlap: two elements would have one address";
    if ((Kind == reduce_kind::mean_variance) != (args.variance != nullptr))
      return "variance must be given for mean_variance, and only for it";
    if (args.position && Kind != reduce_kind::maximum) return "only a maximum has a position";
    auto written = args.y;
    Result* const results[] = {args.y.data, args.variance};
    for (Result* const result : results) {
      written.data = result;
      if (result && detail::overlap(args.x, written)) return "a result overlaps the input";
    }
    if (detail::plan_reduction(args.x, args.y, max_vector, false, false).groups() > 0x7fffffff / 2048)
      return "there are too many results";
    return nullptr;
  }
  /// How much memory lets all of the GPU work on few results; 0 if there is nothing to gain.
  static long_index_t workspace_bytes(const args_type& args) {
    const auto plan = detail::plan_reduction(args.x, args.y, max_vector, Kind == reduce_kind::maximum, true);
    return plan.splits == 1 ? 0 : plan.splits * plan.results() * long_index_t(sizeof(typename shared::state));
  }
  static device_args prepare(const args_type& args, const auto&) { return shared::prepare(args); }
  static exec::block_index grid(const device_args& args) { return {index_t(args.groups() * args.splits), 1, 1}; }

  TILEWRIGHT_HD void operator()(const device_args& args) const {
    if (args.is_ragged) return run<1, max_vector, true>(args);
    if (args.vector == 1) return run<1, 1, false>(args);
    if (args.team.is_along) return run<1, max_vector, false>(args);
    run<max_vector, 1, false>(args);
  }

 private:
  /// Results of a thread x elements of an access along each; one of the two is 1.
  template <index_t Results, index_t Along, bool Ragged>
  TILEWRIGHT_HD static void run(const device_args& args) {
    const index_t thread = exec::thread_id(), slice = args.team.slice_of(thread);
    const index_t split = modulo(exec::block_id().x, args.splits), group = divide(exec::block_id().x, args.splits);
    const long_index_t of_kept = long_index_t{group} * args.team.results() + args.team.result_of(thread);
    const bool exists = of_kept < args.kept.iterations;
    const long_index_t start = args.kept.offsets(long_index_t(exists ? of_kept : 0))[1];
    // Elements before the start of the result in its first aligned vector.
    const index_t before = Ragged ? index_t((args.x_misaligned + start / index_t(sizeof(T))) % Along) : 0;
    const long_index_t accesses =
        Ragged ? (args.reduced.iterations + before + Along - 1) / Along : args.reduced.iterations;
    const index_t end = exists ? index_t(min(long_index_t{split + 1} * args.part, accesses)) : 0;
    // Accesses from `whole` to whole_end - 1 are whole.
    const index_t whole = before > 0 ? 1 : 0;
    const index_t whole_end = Ragged ? min(end, index_t((args.reduced.iterations + before) / Along)) : end;

    typename shared::state own[Results];
    TILEWRIGHT_UNROLL(1)
    for (index_t next = split * args.part + slice; next < end; next += in_flight * args.team.slices) {
      const index_t of_team = next - slice;  // one branch for all
      if (of_team >= whole && of_team + in_flight * args.team.slices <= whole_end) {
        add<Ragged, false, Along>(args, start, next, end, before, own);
      } else {
        add<Ragged, true, Along>(args, start, next, end, before, own);
      }
    }
    shared::combine(args.team, own);
    if (slice != 0 || !exists) return;
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < Results; ++i) {
      const long_index_t result = of_kept * Results + i;
      if (args.splits == 1) {
        shared::finish(args, own[i], result);
        continue;
      }
      const auto bits = bit_cast<array<unsigned, shared::words>>(own[i]);
      TILEWRIGHT_UNROLL_ALL
      for (index_t w = 0; w < shared::words; ++w) *shared::word_of(args, split, result, w) = bits[w];
    }
  }
  /// Adds the elements of the accesses next, next + slices and so on; if it IsPartial, those that are before `end` and
  /// inside of the result.
  template <bool Ragged, bool IsPartial, index_t Along, index_t Results>
  TILEWRIGHT_HD static void add(const device_args& args, long_index_t start, index_t next, index_t end, index_t before,
                                typename shared::state (&own)[Results]) {
    using vector = vector_t<T, Results * Along>;
    constexpr long_index_t outside = exec::out_of_bounds_offset;
    const exec::global_buffer x = exec::make_global_buffer(args.x, args.x_bytes);
    vector loaded[in_flight];
    detail::reduce_chunk<in_flight, Along, IsPartial> chunk;
    long_index_t number[in_flight];
    array<long_index_t, 1> at[in_flight];
    index_t innermost[in_flight];
    chunk.end = index_t(args.reduced.iterations * (Ragged ? 1 : Along));
    TILEWRIGHT_UNROLL_ALL
    for (index_t u = 0; u < in_flight; ++u) {
      number[u] = IsPartial ? min(next + u * args.team.slices, end - 1) : next + u * args.team.slices;
      chunk.first[u] = index_t(number[u]) * Along - before;
      at[u][0] = chunk.first[u] * long_index_t(sizeof(T));
      if (IsPartial && next + u * args.team.slices >= end) chunk.first[u] = -Along;
    }
    if constexpr (!Ragged) args.reduced.find(number, at, innermost);
    const auto is_whole = [&](index_t u) { return chunk.exists(u * Along) && chunk.exists(u * Along + Along - 1); };
    TILEWRIGHT_UNROLL_ALL
    for (index_t u = 0; u < in_flight; ++u)
      loaded[u] = exec::buffer_load<vector>(x, is_whole(u) ? start + at[u][0] : outside);
    TILEWRIGHT_UNROLL_ALL
    for (index_t u = 0; u < (Ragged && IsPartial ? in_flight : 0); ++u) {  // the ends of rows
      if (is_whole(u) || chunk.first[u] == -Along) continue;
      TILEWRIGHT_UNROLL_ALL
      for (index_t e = 0; e < Along; ++e)
        loaded[u][e] =
            exec::buffer_load<T>(x, chunk.exists(u * Along + e) ? start + at[u][0] + e * index_t(sizeof(T)) : outside);
    }
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < Results; ++i) {
      TILEWRIGHT_UNROLL_ALL
      for (index_t e = 0; e < in_flight * Along; ++e)
        chunk.x[e] = type_convert<float>(loaded[e / Along][Along == 1 ? i : e % Along]);
      own[i].add(chunk);
    }
  }
};

}  // namespace tilewright
