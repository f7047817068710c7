// SPDX-License-Identifier: MIT
// Reductions of a tensor along any of its dimensions: sum, mean, maximum with its position, mean and variance.
#pragma once

#include <tilewright/rows/reduce_splits.hpp>

namespace tilewright {

/// Sums are those of floats. A NaN loses against numbers in a maximum; NaN alone give NaN and position 2^31 - 1.
template <class Arch, class T, reduce_kind Kind, class Result = float>
struct reduce_tensor : detail::reduce_block<Arch, T, Result, Kind> {
  using shared = detail::reduce_block<Arch, T, Result, Kind>;
  using typename shared::args_type, typename shared::device_args;
  using followed_by = detail::reduce_splits<Arch, T, Result, Kind>;
  using shared::max_vector, shared::in_flight;
  static constexpr index_t blocks_at_once = 3;

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
    const auto span = detail::span_of(args.y);
    const detail::row_matrix memory[] = {detail::row_array(args.y.data, span), detail::row_array(args.variance, span),
                                         detail::row_array(args.position, span),
                                         detail::row_array(args.x.data, detail::span_of(args.x))};
    if (const char* why = detail::check_results(memory, 3)) return why;
    if (reinterpret_cast<unsigned long long>(args.workspace) % 4 != 0) return "the workspace is not aligned to 4 bytes";
    if (shared::plan(args, false).groups() > 0xffffff)  // HIP: fewer than 2^32 threads along x
      return "there are too many results";
    return nullptr;
  }
  /// How much memory lets all of the GPU work on few results; 0 if there is nothing to gain.
  static long_index_t workspace_bytes(const args_type& args) {
    const auto plan = shared::plan(args, true);
    return plan.splits == 1 ? 0 : plan.splits * plan.results() * long_index_t(sizeof(typename shared::state));
  }
  static exec::block_index grid(const device_args& args) { return {index_t(args.groups()), args.splits, 1}; }

  TILEWRIGHT_HD void operator()(const device_args& args) const {
    detail::overlap_kernels();
    if (args.vector == 1 && args.starts != detail::row_starts::ragged) return run<1, 1>(args);
    if (args.team.is_along) return run<1, max_vector>(args);
    run<max_vector, 1>(args);
  }

 private:
  using state = typename shared::state;

  /// Results of a thread x elements of an access along each; one of the two is 1.
  template <index_t Results, index_t Along>
  TILEWRIGHT_HD static void run(const device_args& args) {
    const index_t thread = exec::thread_id(), slice = args.team.slice_of(thread);
    const index_t group = exec::block_id().x, split = exec::block_id().y;
    const auto lds = exec::lds_allocate<shared::lds_bytes>();
    const long_index_t of_kept = long_index_t{group} * args.team.results() + args.team.result_of(thread);
    const bool exists = of_kept < args.kept.iterations;
    const auto first = shared::first_of(args, exists ? of_kept : 0);
    const index_t before = shared::before_vectors(args, first.x);
    const index_t accesses = args.starts == detail::row_starts::ragged
                                 ? (index_t(args.reduced.iterations) - before) / Along  // whole ones
                                 : index_t(args.reduced.iterations);
    const index_t end = index_t(min(long_index_t{split + 1} * args.part, long_index_t{accesses}));

    state own[Results];
    const index_t from = exists ? split * args.part + slice : end;
    if (Results * Along == 1 || args.starts != detail::row_starts::anywhere) {
      accumulate<Along, true>(args, first.x, before, from, end, own, lds);
    } else if constexpr (Results * Along > 1) {
      accumulate<Along, false>(args, first.x, before, from, end, own, lds);
    }
    if constexpr (Along > 1) {
      const index_t last_end = before + accesses * Along;
      if (exists && args.starts == detail::row_starts::ragged)
        add_ends(args, first.x, before, last_end, split * args.team.slices() + slice, own[0]);
    }
    shared::combine(args.team, own, lds);
    if (slice != 0 || !exists) return;
    if (args.splits == 1) return shared::finish(args, own, first);
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < Results; ++i) {
      const auto bits = bit_cast<array<unsigned, shared::words>>(own[i]);
      TILEWRIGHT_UNROLL_ALL
      for (index_t w = 0; w < shared::words; ++w) *shared::word_of(args, split, of_kept * Results + i, w) = bits[w];
    }
  }
  /// Adds the accesses from, from + slices and so on that are before `end`.
  template <index_t Along, bool IsAligned, index_t Results>
  TILEWRIGHT_HD static void accumulate(const device_args& args, long_index_t start, index_t before, index_t from,
                                       index_t end, state (&own)[Results], exec::lds_pointer lds) {
    constexpr bool is_cut = !IsAligned && Along > 1;
    if constexpr (shared::is_copied && IsAligned && Along > 1) {
      accumulate_copied<Along>(args, start + before * index_t(sizeof(T)), before, from, end, own, lds);
    } else {
      TILEWRIGHT_UNROLL(1)
      for (index_t next = from; next < end; next += in_flight * args.team.slices()) {
        vector_t<T, Results * Along> loaded[in_flight];
        detail::reduce_chunk<in_flight, Along> chunk;
        long_index_t at[in_flight];
        find<is_cut>(args, start + before * index_t(sizeof(T)), before, next, end, at, chunk);
        shared::template load_vectors<IsAligned, is_cut>(args, at, loaded);
        if (is_cut && chunk.is_cut()) {
          add<is_cut>(loaded, chunk, own);
        } else {
          add<false>(loaded, chunk, own);
        }
      }
    }
  }
  /// The same through LDS.
  template <index_t Along>
  TILEWRIGHT_HD static void accumulate_copied(const device_args& args, long_index_t start, index_t before, index_t from,
                                              index_t end, state (&own)[1], exec::lds_pointer lds) {
    using vector = vector_t<T, Along>;
    lds = lds + exec::thread_id() * 16;
    const index_t step = in_flight * args.team.slices();
    const auto copy = [&](index_t next, index_t group) TILEWRIGHT_INLINE_LAMBDA {
      if (next >= end) return;
      long_index_t at[in_flight];
      detail::reduce_chunk<in_flight, Along> chunk;
      find<false>(args, start, before, next, end, at, chunk);
      TILEWRIGHT_UNROLL_ALL
      for (index_t u = 0; u < in_flight; ++u)
        exec::masked_load_to_lds<16>(
            exec::make_global_buffer(reinterpret_cast<const char*>(args.x) + at[u], sizeof(vector)), 0, lds,
            group + u * shared::block_size * 16, true);
    };
    index_t group = 0;  // bytes to the group that is read next
    copy(from, 0);
    copy(from + step, shared::group_bytes);
    TILEWRIGHT_UNROLL(1)
    for (index_t next = from; next < end; next += step) {
      if (next + step < end) {
        exec::async_wait<in_flight>();
      } else {
        exec::async_wait();
      }
      vector loaded[in_flight];
      detail::reduce_chunk<in_flight, Along> chunk;
      TILEWRIGHT_UNROLL_ALL
      for (index_t u = 0; u < in_flight; ++u) {
        const index_t access = next + u * args.team.slices();
        loaded[u] = exec::lds_load<vector>(lds, group + u * shared::block_size * 16);
        chunk.number[u] = before + min(access, end - 1) * Along;
        chunk.first[u] = 0;
        chunk.end[u] = access < end ? Along : 0;
      }
      copy(next + 2 * step, group);
      add<false>(loaded, chunk, own);
      group = shared::group_bytes - group;
    }
  }
  template <bool IsCut, index_t Along, class V, index_t Results>
  TILEWRIGHT_HD static void add(const V (&loaded)[in_flight], detail::reduce_chunk<in_flight, Along>& chunk,
                                state (&own)[Results]) {
    const state first = own[0];
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < Results; ++i) {
      TILEWRIGHT_UNROLL_ALL
      for (index_t u = 0; u < in_flight; ++u) {
        TILEWRIGHT_UNROLL_ALL
        for (index_t e = 0; e < Along; ++e) chunk.x[u][e] = type_convert<float>(loaded[u][Along == 1 ? i : e]);
      }
      if constexpr (Kind == reduce_kind::mean_variance) own[i].count = first.count;  // one register for all
      own[i].template add<IsCut>(chunk);
    }
  }
  /// Bytes from x to the accesses next, next + slices and so on that are before `end`, and which elements they have.
  /// IsCut: rows start within aligned vectors.
  template <bool IsCut, index_t Along>
  TILEWRIGHT_HD static void find(const device_args& args, long_index_t start, index_t before, index_t next, index_t end,
                                 long_index_t (&at)[in_flight], detail::reduce_chunk<in_flight, Along>& chunk) {
    index_t access[in_flight], innermost[in_flight];
    array<long_index_t, 1> offset[in_flight];
    TILEWRIGHT_UNROLL_ALL
    for (index_t u = 0; u < in_flight; ++u) {
      access[u] = innermost[u] = min(next + u * args.team.slices(), end - 1);
      offset[u][0] = access[u] * long_index_t{args.step};
    }
    if (args.step == 0) args.reduced.find(access, offset, innermost);
    TILEWRIGHT_UNROLL_ALL
    for (index_t u = 0; u < in_flight; ++u) {
      const bool exists = next + u * args.team.slices() < end;
      at[u] = start + offset[u][0];
      chunk.number[u] = before + access[u] * Along;
      chunk.first[u] = 0;
      chunk.end[u] = exists ? Along : 0;
      if constexpr (IsCut) {
        const unsigned elements = unsigned(args.x_misaligned + at[u] / index_t(sizeof(T)));
        const index_t in_vector = index_t(elements % unsigned(Along)), col = innermost[u] * Along - in_vector;
        at[u] -= in_vector * index_t(sizeof(T));
        chunk.first[u] = max(-col, 0);
        chunk.end[u] = exists ? max(min(Along, args.cols - col), 0) : 0;
        const index_t row = args.step == 0 ? args.reduced.divisions[0].divide(access[u]) : 0;
        chunk.number[u] = row * args.cols + min(max(col, 0), args.cols - 1);
      }
    }
  }
  /// Adds the elements of a ragged row that are in no vector, one by one: before the first one and from `last_end` on.
  TILEWRIGHT_HD static void add_ends(const device_args& args, long_index_t start, index_t before, index_t last_end,
                                     index_t slice, state& own) {
    const index_t all = before + index_t(args.reduced.iterations) - last_end;
    TILEWRIGHT_UNROLL(1)
    for (index_t i = slice; i < all; i += args.splits * args.team.slices()) {
      const index_t number = i < before ? i : i - before + last_end;
      const T x = shared::template load<T>(args, start + number * long_index_t(sizeof(T)));
      state end;
      end.template add<false>(detail::reduce_chunk<1, 1>{{{type_convert<float>(x)}}, {number}, {0}, {1}});
      own.merge(end);
    }
  }
};

}  // namespace tilewright
