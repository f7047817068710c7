// SPDX-License-Identifier: MIT
// Element-wise kernels: copy and cast between strided tensors, GELU, SwiGLU, and functions of one's own.
#pragma once

#include <tilewright/exec/exec.hpp>
#include <tilewright/numeric/convert_pair.hpp>
#include <tilewright/numeric/vector.hpp>
#include <tilewright/rows/element_functions.hpp>
#include <tilewright/rows/loop_nest.hpp>
#include <tilewright/rows/row_cluster.hpp>

namespace tilewright {

/// y = f(x) or f(x, x2) element by element; tensors of the same lengths, with any strides. y may be an input of the
/// same element size.
template <class T, class Result>
struct map_args {
  strided_tensor<const T> x;
  strided_tensor<Result> y;
  strided_tensor<const T> x2 = {};  // for functions of two elements
};

namespace detail {

/// What crosses to the device.
template <class T, class Result, index_t Tensors>
struct map_device_args {
  const T *x, *x2;
  Result* y;
  loop_nest<Tensors> nest;
  long_index_t x_bytes, x2_bytes, y_bytes;
  index_t piece;         // elements of an access to inputs; 0: the innermost loop is taken element by element
  index_t cols;          // elements of the innermost loop
  index_t y_misaligned;  // elements from y back to a multiple of a vector
  bool is_near;          // offsets have 32 bits
};

}  // namespace detail

/// Each thread computes four vectors of up to 16 bytes, aligned in y, in the order of y's addresses. Inputs are read in
/// pieces as long as the alignment of pointers and strides allows; what is not a whole vector at the start and at the
/// end of a row is moved element by element, and so are rows that are short or not contiguous. Function: of one float,
/// or of two floats, without state. copy_function moves bits if T and Result are the same type.
template <class Arch, class T, class Result = T, class Function = copy_function>
struct map_tensor {
  using arch = Arch;
  using args_type = map_args<T, Result>;
  static constexpr index_t block_size = 256, lds_bytes = 0;
  static constexpr index_t max_vector = 16 / index_t(max(sizeof(T), sizeof(Result)));
  static constexpr bool has_two = requires(Function f) { f(0.0f, 0.0f); };
  static constexpr index_t tensors = has_two ? 3 : 2, vectors = has_two ? 2 : 4, blocks_at_once = 4;
  static constexpr bool overlaps_previous = detail::overlaps_previous_v<Arch>;

  using device_args = detail::map_device_args<T, Result, tensors>;
  /// What this kernel cannot do with these arguments, as a sentence; nullptr when it can.
  static const char* check(const args_type& args) {
    if (const char* why = detail::check_tensors(args.x, args.y)) return why;
    if constexpr (has_two) {
      if (const char* why = detail::check_tensors(args.x2, args.y)) return why;
    }
    auto nest = loops(args);
    if (!nest.finish(element_bytes()) || nest.iterations > (1ll << 40)) return "there are too many elements";
    return nullptr;
  }
  static device_args prepare(const args_type& args, const auto&) {
    device_args result{args.x.data,
                       args.x2.data,
                       args.y.data,
                       loops(args),
                       detail::span_of(args.x) * long_index_t(sizeof(T)),
                       detail::span_of(args.x2) * long_index_t(sizeof(T)),
                       detail::span_of(args.y) * long_index_t(sizeof(Result)),
                       max_vector,
                       1,
                       0,
                       false};
    auto& nest = result.nest;
    result.cols = nest.loops > 0 ? nest.lengths[0] : 1;
    result.is_near = detail::is_near(args.x) && detail::is_near(args.y) && (!has_two || detail::is_near(args.x2));
    while (result.piece > 1 && !fits(args, nest, result.piece)) result.piece /= 2;
    if (result.piece < max_vector && !(fits(args, nest, 1) && result.cols >= 4 * max_vector)) result.piece = 0;
    if (result.piece > 0) {
      result.y_misaligned =
          index_t(reinterpret_cast<unsigned long long>(args.y.data) / sizeof(Result) % unsigned(max_vector));
      if (result.piece < max_vector) nest.lengths[0] += max_vector - result.piece;  // a row may start within a vector
      nest.vectorise(max_vector);
    }
    nest.finish(element_bytes());
    return result;
  }
  static exec::block_index grid(const device_args& args) {
    return {index_t(ceil_div(args.nest.iterations, long_index_t{vectors * block_size})), 1, 1};
  }

  TILEWRIGHT_HD void operator()(const device_args& args) const {
    detail::overlap_kernels();
    if (args.is_near) {
      run<index_t>(args);
    } else {
      run<long_index_t>(args);
    }
  }

 private:
  static constexpr array<index_t, tensors> element_bytes() {
    array<index_t, tensors> bytes{};
    for (index_t& of_tensor : bytes) of_tensor = sizeof(T);
    bytes[tensors - 1] = sizeof(Result);
    return bytes;
  }
  static detail::loop_nest<tensors> loops(const args_type& args) {
    if constexpr (has_two) {
      return detail::loops_over(args.x, args.x2, args.y);
    } else {
      return detail::loops_over(args.x, args.y);
    }
  }
  /// Whether all vectors are aligned.
  static bool fits(const args_type& args, const detail::loop_nest<tensors>& nest, index_t vector) {
    const auto is_aligned = [&](const void* p, unsigned bytes) {
      return reinterpret_cast<unsigned long long>(p) % (unsigned(vector) * bytes) == 0;
    };
    if (nest.loops == 0 || nest.lengths[0] < vector || !is_aligned(args.x.data, sizeof(T)) ||
        !is_aligned(args.y.data, sizeof(Result)) || (has_two && !is_aligned(args.x2.data, sizeof(T))))
      return false;
    for (index_t t = 0; t < tensors; ++t) {
      if (nest.strides[0][t] != 1) return false;
      for (index_t d = 1; d < nest.loops; ++d) {
        if (nest.strides[d][t] % vector != 0) return false;
      }
    }
    return true;
  }

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
  TILEWRIGHT_HD static void run(const device_args& args) {
    if (args.piece > 0) return move<max_vector, Offset>(args);
    move<1, Offset>(args);
  }
  /// The vectors of one thread: all loads first, so that they are in flight together.
  template <index_t Vector, class Offset>
  TILEWRIGHT_HD static void move(const device_args& args) {
    using input = vector_t<T, Vector>;
    constexpr array<index_t, tensors> bytes = element_bytes();
    constexpr Offset outside = exec::out_of_bounds_offset;
    const exec::global_buffer y_memory = exec::make_global_buffer(args.y, args.y_bytes);
    const Offset first = Offset(exec::block_id().x) * (vectors * block_size) + exec::thread_id();
    const Offset last = Offset(args.nest.iterations - 1);
    Offset i[vectors], from[vectors], from2[vectors];
    index_t col[vectors];  // of the first element
    bool is_whole[vectors];
    array<Offset, tensors> at[vectors];
    input x[vectors], x2[vectors]{};
    TILEWRIGHT_UNROLL_ALL
    for (index_t u = 0; u < vectors; ++u) i[u] = min(Offset(first + u * block_size), last);
    args.nest.find(i, at, col);
    TILEWRIGHT_UNROLL_ALL
    for (index_t u = 0; u < vectors; ++u) {
      index_t before = 0;  // the row's start within an aligned vector of y
      if (Vector > 1 && args.piece < Vector)
        before = index_t((args.y_misaligned + at[u][tensors - 1] / bytes[tensors - 1]) % Vector);
      TILEWRIGHT_UNROLL_ALL
      for (index_t t = 0; t < tensors; ++t) at[u][t] -= before * bytes[t];
      col[u] = first + u * block_size > last ? args.cols : col[u] * Vector - before;
      is_whole[u] = col[u] >= 0 && col[u] <= args.cols - Vector;
      from[u] = is_whole[u] ? at[u][0] : outside;
      from2[u] = is_whole[u] ? at[u][tensors - 2] : outside;
    }
    load<Vector>(args, args.x, args.x_bytes, from, x);
    if constexpr (has_two) load<Vector>(args, args.x2, args.x2_bytes, from2, x2);
    TILEWRIGHT_UNROLL_ALL
    for (index_t u = 0; u < vectors; ++u)
      exec::buffer_store(y_memory, is_whole[u] ? at[u][tensors - 1] : outside, apply<Vector>(x[u], x2[u]));
    if (Vector == 1 || (args.piece == Vector && args.cols % Vector == 0)) return;
    TILEWRIGHT_UNROLL_ALL
    for (index_t u = 0; u < vectors; ++u) {
      TILEWRIGHT_UNROLL(1)
      for (index_t e = max(-col[u], 0); !is_whole[u] && e < min(Vector, args.cols - col[u]); ++e) {
        const auto one = [&](const T* memory, long_index_t size, index_t t) TILEWRIGHT_INLINE_LAMBDA {
          return exec::buffer_load<vector_t<T, 1>>(exec::make_global_buffer(memory, size),
                                                   Offset(at[u][t] + e * bytes[t]));
        };
        vector_t<T, 1> one2{};
        if constexpr (has_two) one2 = one(args.x2, args.x2_bytes, 1);
        exec::buffer_store(y_memory, Offset(at[u][tensors - 1] + e * bytes[tensors - 1]),
                           apply<1>(one(args.x, args.x_bytes, 0), one2));
      }
    }
  }
  /// Vectors in pieces of args.piece elements; zeros where `at` is outside.
  template <index_t Vector, class Offset>
  TILEWRIGHT_HD static void load(const device_args& args, const T* memory, long_index_t bytes,
                                 const Offset (&at)[vectors], vector_t<T, Vector> (&x)[vectors]) {
    const auto in_pieces = [&]<index_t Piece>(number<Piece>) TILEWRIGHT_INLINE_LAMBDA {
      TILEWRIGHT_UNROLL_ALL
      for (index_t u = 0; u < vectors; ++u) {
        array<vector_t<T, Piece>, Vector / Piece> pieces{};
        const auto from = exec::make_global_buffer(reinterpret_cast<const char*>(memory) + at[u], Vector * sizeof(T));
        TILEWRIGHT_UNROLL_ALL
        for (index_t p = 0; at[u] >= 0 && p < Vector / Piece; ++p)  // one comparison for all pieces
          pieces[p] = exec::buffer_load<vector_t<T, Piece>>(from, p * long_index_t(Piece * sizeof(T)));
        x[u] = bit_cast<vector_t<T, Vector>>(pieces);
      }
    };
    if (Vector == 1 || args.piece == Vector) {
      TILEWRIGHT_UNROLL_ALL
      for (index_t u = 0; u < vectors; ++u)
        x[u] = exec::buffer_load<vector_t<T, Vector>>(exec::make_global_buffer(memory, bytes), at[u]);
    } else if (Vector > 2 && args.piece == Vector / 2) {
      in_pieces(number<max(Vector / 2, 1)>{});
    } else {
      in_pieces(number<1>{});
    }
  }
};

}  // namespace tilewright
