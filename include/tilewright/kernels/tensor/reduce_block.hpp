// SPDX-License-Identifier: MIT
// What the kernels of a reduction share: their arguments, and how the states of threads become results.
#pragma once

#include <tilewright/block/rows/row_cluster.hpp>
#include <tilewright/core/base/types.hpp>
#include <tilewright/kernels/tensor/detail/reduce_plan.hpp>
#include <tilewright/launch/check_rows.hpp>
#include <tilewright/machine/exec/exec.hpp>

namespace tilewright {

/// y has x's lengths, but 1 along the dimensions that are reduced.
template <class T, class Result = float>
struct reduce_args {
  strided_tensor<const T> x;    ///< input
  strided_tensor<Result> y;     ///< sums, means or maxima
  Result* variance = nullptr;   ///< mean_variance: of the elements, divided by their number; strides of y
  index_t* position = nullptr;  ///< maximum, optional: number of the first largest element in the order of x's
                                ///< dimensions, among those that are reduced; strides of y
  /// workspace_bytes(args), 4-byte aligned; without it few results of many elements take longer.
  void* workspace = nullptr;
};

namespace detail {

/// What the kernels of a reduction share: the states of threads become results.
template <class Arch, class T, class Result, reduce_kind Kind>
struct reduce_block {
  using state = reduce_state<Kind>;
  static constexpr index_t block_size = reduce_team::block_size, words = sizeof(state) / 4, max_results = 8,
                           max_vector = min(16 / index_t(sizeof(T)), max_results);
  static constexpr index_t wave = Arch::value.wave_size, in_flight = 4;
  /// Whether accesses may go through LDS, where each thread has places for two groups of them.
  static constexpr bool can_copy = !is_amd(Arch::value) && max_vector * sizeof(T) == 16;
  static constexpr index_t group_bytes = in_flight * block_size * 16;
  /// LDS for the states that waves exchange when each thread has `results` of them.
  static constexpr index_t combine_bytes(index_t results) { return 8192 / wave * results * words * 4; }
  static constexpr index_t lds_bytes = max(combine_bytes(max_vector), can_copy ? 2 * group_bytes : 0);
  static constexpr unsigned vectors_of_line = 8;  // 128 bytes

  static constexpr bool overlaps_previous = overlaps_previous_v<Arch>;
  using arch = Arch;
  using args_type = reduce_args<T, Result>;
  using device_args = reduce_device_args<T, Result>;

  static reduce_plan plan(const args_type& args, bool has_workspace) {
    return plan_reduction(args.x, args.y, max_vector, Kind == reduce_kind::maximum, has_workspace, wave);
  }
  static device_args prepare(const args_type& args, const auto&) {
    device_args result;
    static_cast<reduce_plan&>(result) = plan(args, args.workspace != nullptr);
    result.x = args.x.data;
    result.y = args.y.data;
    result.variance = args.variance;
    result.position = args.position;
    result.workspace = static_cast<unsigned*>(args.workspace);
    const long_index_t stride = result.reduced.strides[0][0];
    const bool is_one_loop = result.reduced.loops == 1 && stride >> 31 == 0;
    result.step = result.starts == row_starts::ragged ? max_vector * index_t(sizeof(T))
                  : is_one_loop                       ? index_t(stride)
                                                      : 0;
    result.y_step = result.kept.strides[0][0] / index_t(sizeof(Result)) / result.results_of_thread();
    result.x_bytes = span_of(args.x) * long_index_t(sizeof(T));
    result.x_misaligned =
        index_t(reinterpret_cast<unsigned long long>(args.x.data) / sizeof(T) % unsigned(vectors_of_line * max_vector));
    return result;
  }

  /// Merges the states of all slices into those of slice 0: across the lanes of each wave, then across waves in LDS.
  template <index_t Results>
  TILEWRIGHT_HD static void combine(const reduce_team& team, state (&own)[Results], exec::lds_pointer lds) {
    using bits_of_state = array<unsigned, words>;
    const index_t thread = exec::thread_id(), results = team.results(), slice = team.slice_of(thread);
    const index_t step = team.is_along ? 1 : results;  // lanes between slices
    const index_t log_in_wave = team.is_along ? min(team.log_slices, log2_floor(wave))
                                              : max(team.log_slices + log2_floor(wave) - log2_floor(block_size), 0);
    const index_t in_wave = 1 << log_in_wave, groups = team.slices() >> log_in_wave;
    TILEWRIGHT_UNROLL(1)
    for (index_t apart = 1; apart < in_wave; apart *= 2) {
      TILEWRIGHT_UNROLL_ALL
      for (index_t i = 0; i < Results; ++i) {
        bits_of_state bits = bit_cast<bits_of_state>(own[i]);
        TILEWRIGHT_UNROLL_ALL
        for (unsigned& word : bits.elements) word = exec::shuffle(word, exec::lane_id() ^ (apart * step));
        own[i].merge(bit_cast<state>(bits));
      }
    }
    if (groups == 1) return;
    if (can_copy) exec::block_sync();  // other threads have read what was copied there
    const index_t group = slice >> log_in_wave, result = team.result_of(thread);
    const auto place = [&](index_t i, index_t w, index_t of_group) TILEWRIGHT_INLINE_LAMBDA {
      return ((i * words + w) * (8192 / wave) + of_group * results + result) * 4;
    };
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < Results; ++i) {
      const auto bits = bit_cast<bits_of_state>(own[i]);
      TILEWRIGHT_UNROLL_ALL
      for (index_t w = 0; w < words; ++w) {
        if ((slice & (in_wave - 1)) == 0) exec::lds_store(lds, place(i, w, group), bits[w]);
      }
    }
    exec::block_sync();
    TILEWRIGHT_UNROLL(1)
    for (index_t g = 1; g < groups && slice == 0; ++g) {
      TILEWRIGHT_UNROLL_ALL
      for (index_t i = 0; i < Results; ++i) {
        bits_of_state bits;
        TILEWRIGHT_UNROLL_ALL
        for (index_t w = 0; w < words; ++w) bits[w] = exec::lds_load<unsigned>(lds, place(i, w, g));
        own[i].merge(bit_cast<state>(bits));
      }
    }
  }

  /// The results of a thread.
  struct first_result {
    long_index_t y, x;  // elements from y's start to the first one, bytes from x's start to its first element
    index_t skipped;    // as many are those of another thread: vectors end with their row
  };
  TILEWRIGHT_HD static first_result first_of(const device_args& args, long_index_t of_kept) {
    const long_index_t iteration[1] = {of_kept};
    array<long_index_t, 2> at[1];
    index_t innermost[1];
    args.kept.find(iteration, at, innermost);
    const index_t n = args.results_of_thread(), skipped = max((innermost[0] + 1) * n - args.cols, 0);
    if (n == 1) return {at[0][0] / index_t(sizeof(Result)), at[0][1], 0};
    return {at[0][0] / index_t(sizeof(Result)) - skipped * args.y_step, at[0][1] - skipped * index_t(sizeof(T)),
            skipped};
  }
  /// What is `at` bytes from x's start.
  template <class V>
  TILEWRIGHT_HD static V load(const device_args& args, long_index_t at) {
    const auto address = reinterpret_cast<const char*>(args.x) + at;
    return exec::buffer_load<V>(exec::make_global_buffer(address, sizeof(V)), long_index_t{0});
  }
  /// Bytes from a result's first element to its element number `number`.
  TILEWRIGHT_HD static long_index_t offset_of(const device_args& args, index_t number) {
    if (!args.team.is_along || args.vector == 1) return args.reduced.offsets(number)[0];
    const index_t row = divide(number, args.cols);
    return args.reduced.offsets(row * args.reduced.lengths[0])[0] +
           (number - row * args.cols) * long_index_t(sizeof(T));
  }
  /// The elements of a result: vectors, and of a ragged row those before and after them.
  struct row_parts {
    index_t before, accesses, ends;  // elements before the first vector, vectors, elements in no vector
    index_t skipped;                 // vectors from a multiple of 128 bytes of memory to the first one

    TILEWRIGHT_HD index_t number_of_end(index_t i) const { return i < before ? i : i + accesses * max_vector; }
  };
  TILEWRIGHT_HD static row_parts parts_of(const device_args& args, long_index_t start) {
    const index_t all = index_t(args.reduced.iterations);
    if (args.starts != row_starts::ragged) return {0, all, 0, 0};
    const unsigned elements = unsigned(args.x_misaligned + start / index_t(sizeof(T)));
    const index_t before = index_t((0 - elements) % unsigned(max_vector)), accesses = (all - before) / max_vector;
    const unsigned vectors = (elements + unsigned(before)) / unsigned(max_vector);
    return {before, accesses, all - accesses * max_vector, index_t(vectors % vectors_of_line)};
  }
  /// The state of a maximum with the position of the first element that is the largest, not of its access.
  TILEWRIGHT_HD static state with_first(const device_args& args, state total, long_index_t start) {
    if constexpr (Kind == reduce_kind::maximum) {
      const bool is_exact = !args.team.is_along || (args.vector == 1 && args.starts != row_starts::ragged);
      if (!args.position || is_exact || total.largest != total.largest) return total;
      const index_t last = args.cols - 1 - modulo(total.position, args.cols);  // in the same row
      const long_index_t at = start + offset_of(args, total.position);
      T x[max_vector];
      TILEWRIGHT_UNROLL_ALL
      for (index_t e = 0; e < max_vector; ++e) x[e] = load<T>(args, at + min(e, last) * index_t(sizeof(T)));
      index_t first = 0;
      TILEWRIGHT_UNROLL_ALL
      for (index_t e = max_vector; e-- > 0;) first = type_convert<float>(x[e]) == total.largest ? e : first;
      total.position += first;
    }
    return total;
  }
  /// Writes the results of a thread.
  template <index_t Results>
  TILEWRIGHT_HD static void finish(const device_args& args, state (&totals)[Results], const first_result& first) {
    const float one = args.one_of_elements;
    totals[0] = with_first(args, totals[0], first.x);
    write<Results>(args, args.y, first, [&](index_t i) { return type_convert<Result>(totals[i].result(one)); });
    if constexpr (Kind == reduce_kind::mean_variance)
      write<Results>(args, args.variance, first,
                     [&](index_t i) { return type_convert<Result>(totals[i].variance(one)); });
    if constexpr (Kind == reduce_kind::maximum) {
      if (args.position) write<Results>(args, args.position, first, [&](index_t i) { return totals[i].first(); });
    }
  }
  /// In vectors where they are aligned.
  template <index_t Results, class V, class F>
  TILEWRIGHT_HD static void write(const device_args& args, V* y, const first_result& first, F result) {
    constexpr index_t n = min(Results, 16 / index_t(sizeof(V)));
    V* const to = y + first.y;
    const bool is_aligned = detail::is_aligned(to, n * index_t(sizeof(V)));
    if (args.y_step == 1 && first.skipped == 0 && is_aligned) {
      TILEWRIGHT_UNROLL_ALL
      for (index_t i = 0; i < Results; i += n) {
        array<V, n> piece;
        TILEWRIGHT_UNROLL_ALL
        for (index_t j = 0; j < n; ++j) piece[j] = result(i + j);
        exec::buffer_store(exec::make_global_buffer(to, Results * sizeof(V)), i * long_index_t(sizeof(V)), piece);
      }
      return;
    }
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < Results; ++i) {
      if (i >= first.skipped) exec::store_element(to + i * args.y_step, result(i));
    }
  }
  /// Where the workspace has a word of the state of a split.
  TILEWRIGHT_HD static unsigned* word_of(const device_args& args, index_t split, long_index_t result, index_t w) {
    return args.workspace + ((long_index_t{w} * args.splits + split) * args.results() + result);
  }
};

}  // namespace detail

}  // namespace tilewright
