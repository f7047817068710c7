// SPDX-License-Identifier: MIT
// Element-wise kernels: copy and cast between strided tensors, GELU, SwiGLU, and functions of one's own.
#pragma once

#include <tilewright/rows/map_ragged.hpp>

namespace tilewright {

/// y = f(x) or f(x, x2) element by element; tensors of the same lengths, with any strides. y may be an input of the
/// same element size.
template <class T, class Result>
struct map_args {
  strided_tensor<const T> x;
  strided_tensor<Result> y;
  strided_tensor<const T> x2 = {};  // for functions of two elements
};

/// Each thread stores four vectors of up to 16 bytes in the order of y's addresses. Where contiguous rows start or end
/// within vectors, it puts the elements of an aligned vector of y together from two of x; ends of rows are moved one by
/// one. Other vectors are as long as the alignment allows. Function: of one float, or of two floats, without state.
/// copy_function moves bits if T and Result are the same type.
template <class Arch, class T, class Result = T, class Function = copy_function>
struct map_tensor {
  using arch = Arch;
  using args_type = map_args<T, Result>;
  using shared = detail::map_ragged<T, Result, Function>;
  static constexpr bool has_two = shared::has_two;
  static constexpr index_t block_size = shared::block_size, lds_bytes = 0, blocks_at_once = has_two ? 4 : 5;
  static constexpr index_t max_vector = shared::max_vector, tensors = shared::tensors, vectors = shared::vectors;

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
                       false,
                       false};
    auto& nest = result.nest;
    result.cols = nest.loops > 0 ? nest.lengths[0] : 1;
    result.is_near = detail::is_near(args.x) && detail::is_near(args.y) && (!has_two || detail::is_near(args.x2));
    result.is_ragged = !fits(args, nest, max_vector) && result.cols >= 4 * max_vector && is_contiguous(nest);
    while (!result.is_ragged && result.vector > 1 && !fits(args, nest, result.vector))
      result.vector /= result.is_near ? 2 : result.vector;
    nest.vectorise(result.vector);
    if (result.is_ragged) ++nest.lengths[0];
    nest.finish(element_bytes());
    return result;
  }
  static exec::block_index grid(const device_args& args) {
    return {index_t(ceil_div(args.nest.iterations, long_index_t{vectors * block_size})), 1, 1};
  }

  TILEWRIGHT_HD void operator()(const device_args& args) const {
    if (args.is_near) {
      args.is_ragged ? shared::template run_ragged<index_t>(args) : run<max_vector, index_t>(args);
    } else {
      args.is_ragged ? shared::template run_ragged<long_index_t>(args) : run<max_vector, long_index_t>(args);
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
  /// Whether the innermost loop runs over neighbouring elements.
  static bool is_contiguous(const detail::loop_nest<tensors>& nest) {
    bool result = nest.loops > 0;
    for (const long_index_t stride : nest.strides[0]) result = result && stride == 1;
    return result;
  }
  /// Whether all vectors are aligned and whole.
  static bool fits(const args_type& args, const detail::loop_nest<tensors>& nest, index_t vector) {
    const auto is_aligned = [&](const void* p, unsigned bytes) {
      return reinterpret_cast<unsigned long long>(p) % (unsigned(vector) * bytes) == 0;
    };
    if (!is_contiguous(nest) || nest.lengths[0] % vector != 0 || !is_aligned(args.x.data, sizeof(T)) ||
        !is_aligned(args.y.data, sizeof(Result)) || (has_two && !is_aligned(args.x2.data, sizeof(T))))
      return false;
    for (index_t t = 0; t < tensors; ++t) {
      for (index_t d = 1; d < nest.loops; ++d) {
        if (nest.strides[d][t] % vector != 0) return false;
      }
    }
    return true;
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
    const Offset first = shared::template first_of_thread<Offset>();
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
      if (first + u * block_size > last) {
        for (Offset& offset : at[u].elements) offset = outside;
      }
      x[u] = exec::buffer_load<input>(x_memory, at[u][0]);
      if constexpr (has_two) x2[u] = exec::buffer_load<input>(x2_memory, at[u][1]);
    }
    TILEWRIGHT_UNROLL_ALL
    for (index_t u = 0; u < vectors; ++u)
      exec::buffer_store(y_memory, at[u][tensors - 1], shared::template apply<Vector>(x[u], x2[u]));
  }
};

}  // namespace tilewright
