// SPDX-License-Identifier: MIT
// Element-wise functions of vectors, and of rows that start or end within vectors.
#pragma once

#include <tilewright/exec/exec.hpp>
#include <tilewright/numeric/convert_pair.hpp>
#include <tilewright/numeric/vector.hpp>
#include <tilewright/rows/element_functions.hpp>
#include <tilewright/rows/loop_nest.hpp>
#include <tilewright/rows/row_vectors.hpp>

namespace tilewright::detail {

/// What crosses to the device.
template <class T, class Result, index_t Tensors>
struct map_device_args {
  const T *x, *x2;
  Result* y;
  loop_nest<Tensors> nest;
  long_index_t x_bytes, x2_bytes, y_bytes;
  index_t vector, cols;  // cols: elements of the innermost loop
  bool is_near;          // offsets have 32 bits
  bool is_ragged;        // contiguous rows that start or end within vectors
};

template <class T, class Result, class Function>
struct map_ragged {
  static constexpr bool has_two = requires(Function f) { f(0.0f, 0.0f); };
  static constexpr index_t block_size = 256, max_vector = 16 / index_t(max(sizeof(T), sizeof(Result)));
  static constexpr index_t tensors = has_two ? 3 : 2, vectors = has_two ? 2 : 4;
  using device_args = map_device_args<T, Result, tensors>;

  template <index_t Vector>
  TILEWRIGHT_HD static vector_t<Result, Vector> apply(const vector_t<T, Vector>& x, const vector_t<T, Vector>& x2) {
    vector_t<Result, Vector> y;
    if constexpr (__is_same(T, Result) && __is_same(Function, copy_function)) {
      y = x;
    } else {
      float f[Vector];
      TILEWRIGHT_UNROLL_ALL
      for (index_t i = 0; i < Vector; ++i) {
        if constexpr (has_two) {
          f[i] = Function{}(type_convert<float>(x[i]), type_convert<float>(x2[i]));
        } else {
          f[i] = Function{}(type_convert<float>(x[i]));
        }
      }
      if constexpr (detail::is_small_float_v<Result> && Vector > 1) {
        TILEWRIGHT_UNROLL_ALL
        for (index_t i = 0; i < Vector; i += 2) {
          const array<Result, 2> pair = convert_pair<Result>(f[i], f[i + 1]);
          y[i] = pair[0], y[i + 1] = pair[1];
        }
      } else {
        TILEWRIGHT_UNROLL_ALL
        for (index_t i = 0; i < Vector; ++i) y[i] = type_convert<Result>(f[i]);
      }
    }
    return y;
  }

  template <class Offset>
  TILEWRIGHT_HD static Offset first_of_thread() {
    return Offset(exec::block_id().x) * (vectors * block_size) + exec::thread_id();
  }
  /// Rows that start anywhere, in the vectors that are aligned in y.
  template <class Offset>
  TILEWRIGHT_HD static void run_ragged(const device_args& args) {
    constexpr index_t x_size = max_vector * sizeof(T), y_size = max_vector * sizeof(Result), inputs = tensors - 1;
    using words = array<unsigned, x_size / 4>;
    constexpr Offset outside = exec::out_of_bounds_offset;
    const exec::global_buffer memory[3] = {exec::make_global_buffer(args.x, args.x_bytes),
                                           exec::make_global_buffer(has_two ? args.x2 : args.x, args.x2_bytes),
                                           exec::make_global_buffer(args.y, args.y_bytes)};
    const auto from_vector = [](const void* base, Offset at, index_t size) {
      return index_t((unsigned(reinterpret_cast<unsigned long long>(base)) + unsigned(at)) % unsigned(size));
    };
    const Offset first = first_of_thread<Offset>(), last = Offset(args.nest.iterations - 1);
    Offset i[vectors];
    index_t element[vectors], shift[vectors][inputs];  // element: of the row, with which the vector of y begins
    array<Offset, tensors> at[vectors];
    words low[vectors][inputs], high[vectors][inputs];
    bool is_whole[vectors];
    TILEWRIGHT_UNROLL_ALL
    for (index_t u = 0; u < vectors; ++u) i[u] = min(Offset(first + u * block_size), last);
    args.nest.find(i, at, element);
    TILEWRIGHT_UNROLL_ALL
    for (index_t u = 0; u < vectors; ++u) {
      const index_t ahead = from_vector(args.y, at[u][inputs], y_size) / index_t(sizeof(Result));
      element[u] = element[u] * max_vector - ahead;
      at[u][inputs] -= ahead * index_t(sizeof(Result));
      is_whole[u] = first + u * block_size <= last && element[u] >= 0 && element[u] + max_vector <= args.cols;
      TILEWRIGHT_UNROLL_ALL
      for (index_t t = 0; t < inputs; ++t) {
        at[u][t] -= ahead * index_t(sizeof(T));
        shift[u][t] = from_vector(memory[t].base, at[u][t], x_size);
        const long_index_t end = long_index_t(at[u][t]) - shift[u][t] + (shift[u][t] > 0 ? 2 : 1) * x_size;
        is_whole[u] = is_whole[u] && at[u][t] >= shift[u][t] && end <= memory[t].bytes;
      }
      TILEWRIGHT_UNROLL_ALL
      for (index_t t = 0; t < inputs; ++t) {
        const Offset from = is_whole[u] ? at[u][t] - shift[u][t] : outside;
        low[u][t] = exec::buffer_load<words>(memory[t], from);
        high[u][t] = exec::buffer_load<words>(memory[t], shift[u][t] > 0 ? Offset(from + x_size) : outside);
      }
    }
    TILEWRIGHT_UNROLL_ALL
    for (index_t u = 0; u < vectors; ++u) {
      vector_t<T, max_vector> x[2]{};
      TILEWRIGHT_UNROLL_ALL
      for (index_t t = 0; t < inputs; ++t)
        x[t] = bit_cast<vector_t<T, max_vector>>(funnel_shift(low[u][t], high[u][t], shift[u][t]));
      exec::buffer_store(memory[2], is_whole[u] ? at[u][inputs] : outside, apply<max_vector>(x[0], x[1]));
    }
    TILEWRIGHT_UNROLL_ALL
    for (index_t u = 0; u < vectors; ++u) {
      if (is_whole[u] || first + u * block_size > last) continue;
      TILEWRIGHT_UNROLL(1)
      for (index_t e = max(-element[u], 0); e < min(args.cols - element[u], max_vector); ++e) {
        vector_t<T, 1> x[2]{};
        TILEWRIGHT_UNROLL_ALL
        for (index_t t = 0; t < inputs; ++t)
          x[t] = exec::buffer_load<vector_t<T, 1>>(memory[t], Offset(at[u][t] + e * index_t(sizeof(T))));
        exec::buffer_store(memory[2], Offset(at[u][inputs] + e * index_t(sizeof(Result))), apply<1>(x[0], x[1]));
      }
    }
  }
};

}  // namespace tilewright::detail
