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
  index_t vector, cols;  // cols: elements of the innermost loop
  bool is_near;          // offsets have 32 bits
};

}  // namespace detail

/// Each thread loads four vectors of up to 16 bytes in the order of y's addresses. Vectors are as long as the alignment
/// of pointers and strides allows; ends of rows are moved one by one. Function: of one float, or of two floats, without
/// state. copy_function moves bits if T and Result are the same type.
template <class Arch, class T, class Result = T, class Function = copy_function>
struct map_tensor {
  using arch = Arch;
  using args_type = map_args<T, Result>;
  static constexpr index_t block_size = 256, lds_bytes = 0;
  static constexpr index_t max_vector = 16 / index_t(max(sizeof(T), sizeof(Result)));
  static constexpr bool has_two = requires(Function f) { f(0.0f, 0.0f); };
  static constexpr index_t tensors = has_two ? 3 : 2, vectors = has_two ? 2 : 4, blocks_at_once = has_two ? 4 : 5;
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
                       false};
    auto& nest = result.nest;
    result.cols = nest.loops > 0 ? nest.lengths[0] : 1;
    result.is_near = detail::is_near(args.x) && detail::is_near(args.y) && (!has_two || detail::is_near(args.x2));
    while (result.vector > 1 && !fits(args, nest, result.vector)) result.vector /= result.is_near ? 2 : result.vector;
    nest.vectorise(result.vector);
    nest.finish(element_bytes());
    return result;
  }
  static exec::block_index grid(const device_args& args) {
    return {index_t(ceil_div(args.nest.iterations, long_index_t{vectors * block_size})), 1, 1};
  }

  TILEWRIGHT_HD void operator()(const device_args& args) const {
    detail::overlap_kernels();
    if (args.is_near) {
      run<max_vector, index_t>(args);
    } else {
      run<max_vector, long_index_t>(args);
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
  TILEWRIGHT_HD static Offset first_of_thread() {
    return Offset(exec::block_id().x) * (vectors * block_size) + exec::thread_id();
  }
  /// The vectors of one thread: all loads first, so that they are in flight together.
  template <index_t Vector, class Offset>
  TILEWRIGHT_HD static void run(const device_args& args) {
    if constexpr (Vector > 1) {
      if (args.vector < Vector) return run<sizeof(Offset) == 8 ? 1 : Vector / 2, Offset>(args);
    }
    using input = vector_t<T, Vector>;
    constexpr Offset outside = exec::out_of_bounds_offset;
    const exec::global_buffer x_memory = exec::make_global_buffer(args.x, args.x_bytes),
                              x2_memory = exec::make_global_buffer(args.x2, args.x2_bytes),
                              y_memory = exec::make_global_buffer(args.y, args.y_bytes);
    const Offset first = first_of_thread<Offset>();
    const Offset last = Offset(args.nest.iterations - 1);
    Offset i[vectors];
    index_t innermost[vectors];
    array<Offset, tensors> at[vectors];
    input x[vectors], x2[vectors]{};
    TILEWRIGHT_UNROLL_ALL
    for (index_t u = 0; u < vectors; ++u) i[u] = min(Offset(first + u * block_size), last);
    args.nest.find(i, at, innermost);
    TILEWRIGHT_UNROLL_ALL
    for (index_t u = 0; u < vectors; ++u) {
      if (first + u * block_size > last || args.cols - innermost[u] * Vector < Vector) {
        for (Offset& offset : at[u].elements) offset = outside;
      }
      x[u] = exec::buffer_load<input>(x_memory, at[u][0]);
      if constexpr (has_two) x2[u] = exec::buffer_load<input>(x2_memory, at[u][1]);
    }
    TILEWRIGHT_UNROLL_ALL
    for (index_t u = 0; u < vectors; ++u) exec::buffer_store(y_memory, at[u][tensors - 1], apply<Vector>(x[u], x2[u]));
    if constexpr (Vector > 1) {
      if (args.cols % Vector != 0) end_rows<Vector, Offset>(args);
    }
  }
  /// The elements of vectors that reach beyond their rows, one by one.
  template <index_t Vector, class Offset>
  TILEWRIGHT_HD static void end_rows(const device_args& args) {
    using one = vector_t<T, 1>;
    const Offset last = Offset(args.nest.iterations - 1), first = first_of_thread<Offset>();
    array<Offset, tensors> at[1];
    index_t innermost[1];
    TILEWRIGHT_UNROLL(1)
    for (Offset i = first; i <= min(Offset(first + (vectors - 1) * block_size), last); i += block_size) {
      const Offset of_iteration[1] = {i};
      args.nest.find(of_iteration, at, innermost);
      const index_t count = args.cols - innermost[0] * Vector;
      TILEWRIGHT_UNROLL(1)
      for (index_t e = 0; count < Vector && e < count; ++e) {
        const one x = exec::buffer_load<one>(exec::make_global_buffer(args.x, args.x_bytes),
                                             Offset(at[0][0] + e * index_t(sizeof(T))));
        one x2{};
        if constexpr (has_two)
          x2 = exec::buffer_load<one>(exec::make_global_buffer(args.x2, args.x2_bytes),
                                      Offset(at[0][1] + e * index_t(sizeof(T))));
        exec::buffer_store(exec::make_global_buffer(args.y, args.y_bytes),
                           Offset(at[0][tensors - 1] + e * index_t(sizeof(Result))), apply<1>(x, x2));
      }
    }
  }
};

}  // namespace tilewright
