// SPDX-License-Identifier: MIT
// What the kernels of a reduction share: their arguments, and how the states of threads become results.
#pragma once

#include <tilewright/exec/exec.hpp>
#include <tilewright/numeric/types.hpp>
#include <tilewright/rows/reduce_plan.hpp>

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
template <class T, class Result, reduce_kind Kind>
struct reduce_block {
  using state = reduce_state<Kind>;
  static constexpr index_t block_size = reduce_team::block_size, words = sizeof(state) / 4, max_results = 8,
                           max_vector = min(16 / index_t(sizeof(T)), max_results);
  static constexpr index_t lds_bytes = block_size / 2 * max_results * words * 4;

  struct device_args : reduce_plan {
    const T* x;
    Result *y, *variance;
    index_t* position;
    unsigned* workspace;
    long_index_t x_bytes;
    bool is_near;  // offsets in x have 32 bits
  };

  static device_args prepare(const reduce_args<T, Result>& args) {
    device_args result;
    static_cast<reduce_plan&>(result) =
        plan_reduction(args.x, args.y, max_vector, Kind == reduce_kind::maximum, args.workspace != nullptr);
    result.x = args.x.data;
    result.y = args.y.data;
    result.variance = args.variance;
    result.position = args.position;
    result.workspace = static_cast<unsigned*>(args.workspace);
    result.x_bytes = span_of(args.x) * long_index_t(sizeof(T));
    result.is_near = is_near(args.x);
    return result;
  }

  /// Merges the states of all slices into those of slice 0, halving their number each time.
  template <index_t Results>
  TILEWRIGHT_HD static void combine(const reduce_team& team, state (&own)[Results]) {
    const auto lds = exec::lds_allocate<lds_bytes>();
    const index_t slice = team.slice_of(exec::thread_id()), result = team.result_of(exec::thread_id());
    TILEWRIGHT_UNROLL(1)
    for (index_t half = team.slices / 2; half > 0; half /= 2) {
      const index_t from = modulo(slice, half);
      const index_t at = team.is_along ? result * half + from : from * team.results() + result;
      const auto place = [&](index_t i, index_t w)
                             TILEWRIGHT_INLINE_LAMBDA { return ((i * words + w) * (block_size / 2) + at) * 4; };
      TILEWRIGHT_UNROLL_ALL
      for (index_t i = 0; i < Results; ++i) {
        const auto bits = bit_cast<array<unsigned, words>>(own[i]);
        TILEWRIGHT_UNROLL_ALL
        for (index_t w = 0; w < words; ++w) {
          if (slice >= half && slice < 2 * half) exec::lds_store(lds, place(i, w), bits[w]);
        }
      }
      exec::block_sync();
      TILEWRIGHT_UNROLL_ALL
      for (index_t i = 0; i < Results; ++i) {
        array<unsigned, words> bits{};
        TILEWRIGHT_UNROLL_ALL
        for (index_t w = 0; w < words; ++w) bits[w] = exec::lds_load<unsigned>(lds, place(i, w));
        if (slice < half) own[i].merge(bit_cast<state>(bits));
      }
      exec::block_sync();
    }
  }

  /// Writes result number `result`.
  TILEWRIGHT_HD static void finish(const device_args& args, const state& total, long_index_t result) {
    const index_t of_thread = args.results_of_thread();
    const long_index_t vector = result / of_thread;
    const long_index_t at =
        (args.kept.offsets(vector)[0] + (result - vector * of_thread) * (args.kept.strides[0][0] / of_thread)) /
        index_t(sizeof(Result));
    if constexpr (Kind == reduce_kind::maximum) {
      args.y[at] = type_convert<Result>(total.largest);
      if (args.position) args.position[at] = total.position;
    } else if constexpr (Kind == reduce_kind::mean_variance) {
      args.y[at] = type_convert<Result>(total.mean);
      args.variance[at] = type_convert<Result>(total.squares * args.one_of_elements);
    } else {
      args.y[at] = type_convert<Result>(Kind == reduce_kind::mean ? total.total * args.one_of_elements : total.total);
    }
  }

  /// Where the workspace has a word of the state of a split.
  TILEWRIGHT_HD static unsigned* word_of(const device_args& args, index_t split, long_index_t result, index_t w) {
    return args.workspace + ((long_index_t{w} * args.splits + split) * args.results() + result);
  }
};

}  // namespace detail

}  // namespace tilewright
