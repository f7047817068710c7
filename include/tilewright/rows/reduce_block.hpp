// SPDX-License-Identifier: MIT
// What the kernels of a reduction share: their arguments, and how the states of threads become results.
#pragma once

#include <tilewright/exec/exec.hpp>
#include <tilewright/numeric/types.hpp>
#include <tilewright/numeric/vector.hpp>
#include <tilewright/rows/check_rows.hpp>
#include <tilewright/rows/cut_vectors.hpp>
#include <tilewright/rows/reduce_plan.hpp>
#include <tilewright/rows/row_cluster.hpp>

namespace tilewright {

/// y has x's lengths, but 1 along the dimensions that are reduced.
template <class T, class Result = float>
struct reduce_args {
  strided_tensor<const T> x;
  strided_tensor<Result> y;     // sums, means or maxima
  Result* variance = nullptr;   // mean_variance: of the elements, divided by their number; strides of y
  index_t* position = nullptr;  // maximum, optional: number of the first largest element in the order of x's
                                // dimensions, among those that are reduced; strides of y
  void* workspace =
      nullptr;  // workspace_bytes(args), 4-byte aligned; without it few results of many elements take longer
};

namespace detail {

/// What the kernels of a reduction share: the states of threads become results.
template <class Arch, class T, class Result, reduce_kind Kind>
struct reduce_block {
  using state = reduce_state<Kind>;
  static constexpr index_t block_size = reduce_team::block_size, words = sizeof(state) / 4, max_results = 8,
                           max_vector = min(16 / index_t(sizeof(T)), max_results);
  static constexpr index_t wave = Arch::value.wave_size, in_flight = 4;
  /// Accesses along a result go through LDS, where each thread has places for two groups of them: twice as many are in
  /// flight as registers have room for.
  static constexpr bool is_copied = !is_amd(Arch::value) && max_vector * sizeof(T) == 16;
  static constexpr index_t group_bytes = in_flight * block_size * 16,
                           lds_bytes = max(8192 / wave * max_results * words * 4, is_copied ? 2 * group_bytes : 0);

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
    result.x_misaligned = index_t(reinterpret_cast<unsigned long long>(args.x.data) / sizeof(T) % unsigned(max_vector));
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
    if (is_copied) exec::block_sync();  // other threads have read what was copied there
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
  /// Vectors that are aligned or, if IsCut, may be partly outside of x, where they get zeros. Others: sums of small
  /// elements take words and shift them, which other states have no registers for.
  template <bool IsAligned, bool IsCut, class V, index_t Count>
  TILEWRIGHT_HD static void load_vectors(const device_args& args, const long_index_t (&at)[Count], V (&loaded)[Count]) {
    constexpr index_t size = sizeof(T);
    constexpr bool is_shifted =
        !IsAligned && !IsCut && size < 4 && (Kind == reduce_kind::sum || Kind == reduce_kind::mean);
    if constexpr (IsAligned || !(IsCut || is_shifted)) {
      using piece = vector_t<T, IsAligned ? V::size() : 1>;
      TILEWRIGHT_UNROLL_ALL
      for (index_t u = 0; u < Count; ++u) {
        array<piece, V::size() / piece::size()> pieces;
        TILEWRIGHT_UNROLL_ALL
        for (index_t p = 0; p < pieces.size(); ++p) pieces[p] = load<piece>(args, at[u] + p * index_t(sizeof(piece)));
        loaded[u] = bit_cast<V>(pieces);
      }
    } else {
      using words = array<unsigned, sizeof(V) / 4>;
      const auto x = shifted_memory<long_index_t>::make(args.x, args.x_bytes);
      words found[Count];
      unsigned cut = 0;
      TILEWRIGHT_UNROLL_ALL
      for (index_t u = 0; u < Count; ++u) {
        const bool is_whole =
            is_shifted ? x.has(at[u], sizeof(V)) : at[u] >= 0 && at[u] + index_t(sizeof(V)) <= args.x_bytes;
        if constexpr (is_shifted) {
          found[u] = x.template load<size, words::size()>(at[u], is_whole);
        } else {
          found[u] = exec::buffer_load<words>(exec::make_global_buffer(args.x, args.x_bytes), at[u]);
        }
        cut |= unsigned(!is_whole && at[u] < args.x_bytes) << u;
      }
      load_cut_vectors<size>(found, cut, [&](index_t i, index_t e) TILEWRIGHT_INLINE_LAMBDA {
        long_index_t first = at[0];
        TILEWRIGHT_UNROLL_ALL
        for (index_t u = 1; u < Count; ++u) first = u == i ? at[u] : first;
        return x.template load_element<unsigned_of<size>>(first + e * size);
      });
      TILEWRIGHT_UNROLL_ALL
      for (index_t u = 0; u < Count; ++u) loaded[u] = bit_cast<V>(found[u]);
    }
  }
  /// Bytes from a result's first element to its element number `number`.
  TILEWRIGHT_HD static long_index_t offset_of(const device_args& args, index_t number) {
    if (!args.team.is_along || args.vector == 1) return args.reduced.offsets(number)[0];
    const index_t row = divide(number, args.cols);
    return args.reduced.offsets(row * args.reduced.lengths[0])[0] +
           (number - row * args.cols) * long_index_t(sizeof(T));
  }
  /// Elements of a result before its first aligned vector; 0 where all vectors are aligned.
  TILEWRIGHT_HD static index_t before_vectors(const device_args& args, long_index_t start) {
    const unsigned elements = unsigned(args.x_misaligned + start / index_t(sizeof(T)));
    return args.starts == row_starts::ragged ? index_t((0 - elements) % unsigned(max_vector)) : 0;
  }
  /// The state of a maximum with the position of the first element that is the largest, not of its access.
  TILEWRIGHT_HD static state with_first(const device_args& args, state total, long_index_t start) {
    if constexpr (Kind == reduce_kind::maximum) {
      if (!args.position || !args.team.is_along || total.largest != total.largest) return total;
      const auto element = [&] { return type_convert<float>(load<T>(args, start + offset_of(args, total.position))); };
      TILEWRIGHT_UNROLL(1)
      for (index_t e = 1; e < max_vector && element() != total.largest; ++e) ++total.position;
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
    const bool is_aligned = reinterpret_cast<unsigned long long>(to) % unsigned(n * sizeof(V)) == 0;
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
      if (i >= first.skipped) to[i * args.y_step] = result(i);
    }
  }
  /// Where the workspace has a word of the state of a split.
  TILEWRIGHT_HD static unsigned* word_of(const device_args& args, index_t split, long_index_t result, index_t w) {
    return args.workspace + ((long_index_t{w} * args.splits + split) * args.results() + result);
  }
};

}  // namespace detail

}  // namespace tilewright
