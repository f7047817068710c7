// SPDX-License-Identifier: MIT
// Element-wise kernels: copy and cast between strided tensors, GELU, SwiGLU, and functions of one's own.
#pragma once

#include <tilewright/block/rows/row_cluster.hpp>
#include <tilewright/core/base/types.hpp>
#include <tilewright/core/base/vector.hpp>
#include <tilewright/kernels/tensor/detail/loop_nest.hpp>
#include <tilewright/machine/exec/exec.hpp>
#include <tilewright/tile/copy/cut_vectors.hpp>
#include <tilewright/tile/registers/element_functions.hpp>

namespace tilewright {

/// y = f(x) or f(x, x2) element by element; tensors of the same lengths, with any strides. y may be an input of the
/// same element size.
template <class T, class Result>
struct map_args {
  strided_tensor<const T> x;        ///< input
  strided_tensor<Result> y;         ///< result, of x's lengths; may be x if the types are as long
  strided_tensor<const T> x2 = {};  ///< for functions of two elements
};

namespace detail {

/// What a thread computes: an element; a vector that is aligned in all tensors; one that is aligned in y, and part of a
/// row; one that is aligned in y, whose elements follow each other in memory, and part of up to two rows.
enum class map_accesses : index_t { elements, aligned, of_row, of_rows };

/// What crosses to the device.
template <class T, class Result, index_t Inputs>
struct map_device_args {
  const T* x[Inputs];
  Result* y;
  long_index_t x_bytes[Inputs], y_bytes;
  loop_nest<Inputs + 1> nest;
  map_accesses accesses;
  long_index_t threads;  // accesses to y
  index_t cols;          // elements of the innermost loop
  index_t y_misaligned;  // elements from y back to a multiple of a vector
  bool is_near;          // offsets have 32 bits
};

}  // namespace detail

/// Each thread computes a vector of up to 16 bytes, aligned in y, in the order of y's addresses.
/// Inputs are read in pieces as long as the alignment of pointers and strides allows; what is not a whole vector at the
/// start and at the end of a row is moved element by element, and so are rows that are short or not contiguous.
/// Function: of one float, or of two floats, without state. copy_function moves bits if T and Result are the same type.
template <class Arch, class T, class Result = T, class Function = copy_function>
struct map_tensor {
  using arch = Arch;
  using args_type = map_args<T, Result>;
  static constexpr index_t block_size = 256, lds_bytes = 0;
  /// elements of an access at most
  static constexpr index_t max_vector = 16 / index_t(max(sizeof(T), sizeof(Result)));
  /// Function takes an element of x and one of x2
  static constexpr bool has_two = requires(Function f) { f(0.0f, 0.0f); };
  static constexpr index_t inputs = has_two ? 2 : 1, blocks_at_once = 8;  ///< tensors that are read
  static constexpr bool overlaps_previous = detail::overlaps_previous_v<Arch>;

  using device_args = detail::map_device_args<T, Result, inputs>;
  static const char* check(const args_type& args) {
    for (index_t t = 0; t < inputs; ++t) {
      if (const char* why = detail::check_tensors(input(args, t), args.y)) return why;
    }
    auto nest = loops(args);
    if (!nest.finish(element_bytes()) || nest.iterations > (1ll << 38)) return "there are too many elements";
    if (is_amd(Arch::value) && prepare(args, 0).threads > 0xffffffffll - block_size)
      return "HIP starts fewer than 2^32 threads along a dimension of a grid: split the tensor";
    return nullptr;
  }
  static device_args prepare(const args_type& args, const auto&) {
    device_args result;
    auto& nest = result.nest = loops(args);
    result.is_near = detail::is_near(args.y);
    for (index_t t = 0; t < inputs; ++t) {
      result.x[t] = input(args, t).data;
      result.x_bytes[t] = detail::span_of(input(args, t)) * long_index_t(sizeof(T));
      result.is_near = result.is_near && detail::is_near(input(args, t));
    }
    result.y = args.y.data;
    result.y_bytes = detail::span_of(args.y) * long_index_t(sizeof(Result));
    result.cols = nest.loops > 0 ? nest.lengths[0] : 1;
    result.y_misaligned =
        index_t(reinterpret_cast<unsigned long long>(args.y.data) / sizeof(Result) % unsigned(max_vector));
    const bool has_rows = fits(result, 1) && result.cols >= max_vector;
    auto& accesses = result.accesses = detail::map_accesses::elements;
    if (fits(result, max_vector)) {
      accesses = detail::map_accesses::aligned;
    } else if (has_rows && is_dense(nest)) {
      accesses = detail::map_accesses::of_rows;
    } else if (has_rows && result.cols >= 4 * max_vector && result.cols <= 0x7fffffff - max_vector) {
      accesses = detail::map_accesses::of_row;
      nest.lengths[0] += max_vector - 1;  // a row may start within a vector
    }
    if (accesses == detail::map_accesses::aligned || accesses == detail::map_accesses::of_row)
      nest.vectorise(max_vector);
    result.threads = nest.elements();
    if (accesses == detail::map_accesses::of_rows)
      result.threads = ceil_div(result.threads + result.y_misaligned, long_index_t{max_vector});
    nest.finish(element_bytes());
    return result;
  }
  static exec::block_index grid(const device_args& args) {
    return {index_t(ceil_div(args.threads, long_index_t{block_size})), 1, 1};
  }

  TILEWRIGHT_HD void operator()(const device_args& args) const {
    detail::overlap_kernels();
    if (args.accesses != detail::map_accesses::elements)
      return args.is_near ? move<max_vector, index_t>(args) : move<max_vector, long_index_t>(args);
    return args.is_near ? move<1, index_t>(args) : move<1, long_index_t>(args);
  }

 private:
  TILEWRIGHT_HD static constexpr array<index_t, inputs + 1> element_bytes() {
    array<index_t, inputs + 1> bytes{};
    for (index_t t = 0; t <= inputs; ++t) bytes[t] = t < inputs ? index_t(sizeof(T)) : index_t(sizeof(Result));
    return bytes;
  }
  static const strided_tensor<const T>& input(const args_type& args, index_t t) { return t == 0 ? args.x : args.x2; }
  static detail::loop_nest<inputs + 1> loops(const args_type& args) {
    if constexpr (has_two) {
      return detail::loops_over(args.x, args.x2, args.y);
    } else {
      return detail::loops_over(args.x, args.y);
    }
  }
  /// Whether all tensors are contiguous along the innermost loop, and aligned to `vector` elements where it starts.
  static bool fits(const device_args& args, index_t vector) {
    bool fit = args.nest.loops > 0 && args.cols >= vector;
    for (index_t t = 0; fit && t <= inputs; ++t) {
      const void* const data = t < inputs ? static_cast<const void*>(args.x[min(t, inputs - 1)]) : args.y;
      fit = args.nest.strides[0][t] == 1 && detail::is_aligned(data, vector * element_bytes()[t]);
      for (index_t d = 1; d < args.nest.loops; ++d) fit = fit && args.nest.strides[d][t] % vector == 0;
    }
    return fit;
  }

  /// Whether the elements of y follow each other in memory.
  static bool is_dense(const detail::loop_nest<inputs + 1>& nest) {
    long_index_t below = 1;
    for (index_t d = 0; d < nest.loops; below *= nest.lengths[d++]) {
      if (nest.strides[d][inputs] != below) return false;
    }
    return true;
  }

  /// A vector of an input. Words: the compiler would keep each element of a piece in a register of its own.
  template <class Offset>
  using offsets = array<Offset, inputs + 1>;
  template <index_t Vector>
  using words = detail::conditional_t<(Vector * sizeof(T) < 4), vector_t<T, Vector>,
                                      array<unsigned, max(Vector* index_t(sizeof(T)) / 4, 1)>>;

  template <index_t Vector>
  TILEWRIGHT_HD static vector_t<Result, Vector> apply(const words<Vector> (&loaded)[inputs]) {
    using input = vector_t<T, Vector>;
    vector_t<Result, Vector> y;
    if constexpr (__is_same(T, Result) && __is_same(Function, copy_function)) {
      y = bit_cast<input>(loaded[0]);
    } else {
      float f[Vector];
      TILEWRIGHT_UNROLL_ALL
      for (index_t i = 0; i < Vector; ++i) {
        if constexpr (has_two) {
          f[i] = Function{}(type_convert<float>(bit_cast<input>(loaded[0])[i]),
                            type_convert<float>(bit_cast<input>(loaded[1])[i]));
        } else {
          f[i] = Function{}(type_convert<float>(bit_cast<input>(loaded[0])[i]));
        }
      }
      constexpr index_t step = detail::is_small_float_v<Result> && Vector > 1 ? 2 : 1;
      TILEWRIGHT_UNROLL_ALL
      for (index_t i = 0; i < Vector; i += step) {
        if constexpr (step == 2) {
          const array<Result, 2> pair = convert_pair<Result>(f[i], f[i + 1]);
          y[i] = pair[0], y[i + 1] = pair[1];
        } else {
          y[i] = type_convert<Result>(f[i]);
        }
      }
    }
    return y;
  }

  /// The vector of one thread.
  template <index_t Vector, class Offset>
  TILEWRIGHT_HD static void move(const device_args& args) {
    constexpr array<index_t, inputs + 1> bytes = element_bytes();
    const Offset thread = Offset(exec::block_id().x) * block_size + exec::thread_id();
    if (thread >= Offset(args.threads)) return;
    const bool is_of_rows = Vector > 1 && args.accesses == detail::map_accesses::of_rows;
    const Offset number = is_of_rows ? thread * Vector - args.y_misaligned : thread;  // in the nest
    index_t cols[1];
    offsets<Offset> all[1];
    const Offset found[1] = {max(number, Offset{0})};
    args.nest.find(found, all, cols);
    offsets<Offset>& at = all[0];
    index_t before = index_t(found[0] - number);  // elements of the vector before the one that was found
    if (Vector > 1 && args.accesses == detail::map_accesses::of_row)
      before = index_t((args.y_misaligned + at[inputs] / bytes[inputs]) % Vector);
    TILEWRIGHT_UNROLL_ALL
    for (index_t t = 0; t <= inputs; ++t) at[t] -= before * bytes[t];
    const index_t col = (is_of_rows ? cols[0] : cols[0] * Vector) - before;  // of the first element
    const index_t lower = max(-col, 0), upper = min(Vector, args.cols - col);
    words<Vector> x[inputs];
    TILEWRIGHT_UNROLL_ALL
    for (index_t t = 0; t < inputs; ++t) x[t] = load<Vector>(args, t, at[t], lower, upper);
    index_t end = upper;
    if (is_of_rows && upper < Vector) {
      const Offset next[1] = {number + upper};
      end = index_t(min(Offset{Vector}, Offset(args.nest.iterations) - number));
      if (upper < end) {
        offsets<Offset> of_next[1];
        args.nest.find(next, of_next, cols);
        TILEWRIGHT_UNROLL_ALL
        for (index_t t = 0; t < inputs; ++t) {
          const auto more = load<Vector>(args, t, Offset(of_next[0][t] - upper * bytes[t]), upper, end);
          x[t] = detail::merge_bits(x[t], more);
        }
      }
    }
    const exec::global_buffer y = exec::make_global_buffer(args.y, args.y_bytes);
    const auto result = apply<Vector>(x);
    if (end - lower == Vector) return exec::buffer_store(y, at[inputs], result);
    TILEWRIGHT_UNROLL_ALL
    for (index_t e = 0; e < Vector; ++e) {
      if (e >= lower && e < end) exec::buffer_store(y, Offset(at[inputs] + e * bytes[inputs]), result[e]);
    }
  }
  /// A vector of input t, of which the elements from `lower` to `upper` - 1 are wanted; the others are 0.
  template <index_t Vector, class Offset>
  TILEWRIGHT_HD static words<Vector> load(const device_args& args, index_t t, Offset at, index_t lower, index_t upper) {
    const exec::global_buffer x = exec::make_global_buffer(args.x[t], args.x_bytes[t]);
    if (args.accesses == detail::map_accesses::aligned && upper - lower == Vector)
      return exec::buffer_load<words<Vector>>(x, at);
    return detail::load_part<words<Vector>, words<1>>(x, at, lower, upper);
  }
};

}  // namespace tilewright
