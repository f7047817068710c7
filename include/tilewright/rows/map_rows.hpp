// SPDX-License-Identifier: MIT
// Element-wise kernels: copy and cast between strided matrices, GELU, SwiGLU, and functions of one's own.
#pragma once

#include <tilewright/rows/row_block.hpp>

namespace tilewright {

/// y = f(x) or f(x, x2) element by element. Strides in elements. y may be an input of the same element size.
template <class T, class Result>
struct map_args {
  const T* x = nullptr;
  const T* x2 = nullptr;  // for functions of two elements
  Result* y = nullptr;
  index_t rows = 0, cols = 0;
  long_index_t x_stride = 0, x2_stride = 0, y_stride = 0;
};

/// The element itself; the result is rounded to nearest, and saturates if it has 8 bits.
struct copy_function {
  TILEWRIGHT_HD float operator()(float x) const { return x; }
};
/// x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
struct gelu_function {
  TILEWRIGHT_HD float operator()(float x) const {
    return x * exec::sigmoid(1.5957691216f * (x + 0.044715f * x * x * x));
  }
};
/// x sigmoid(x) x2.
struct swiglu_function {
  TILEWRIGHT_HD float operator()(float x, float x2) const { return x * exec::sigmoid(x) * x2; }
};

/// Each block takes one tile. Function: of one float, or of two floats, without state.
template <class Arch, class T, class Result, row_tile Tile, class Function = copy_function>
struct map_rows {
  using arch = Arch;
  using args_type = map_args<T, Result>;
  using block = detail::row_block<Arch, Tile>;
  static constexpr index_t block_size = Tile.threads, lds_bytes = 0;
  static constexpr bool has_two = requires(Function f) { f(0.0f, 0.0f); };

  /// What this kernel cannot do with these arguments, as a sentence; nullptr when it can.
  static constexpr const char* check(const args_type& args) {
    const detail::row_matrix x{args.x, args.rows, args.cols, args.x_stride, sizeof(T)};
    const detail::row_matrix x2{args.x2, args.rows, args.cols, args.x2_stride, sizeof(T)};
    const detail::row_matrix y{args.y, args.rows, args.cols, args.y_stride, sizeof(Result)};
    for (const detail::row_matrix& m : {x, y, has_two ? x2 : x}) {
      if (const char* why = detail::check_matrix(m, Tile.vector, Tile.rows())) return why;
      if (m.data != y.data && detail::overlap(m, y)) return "the result overlaps an input, but is not that input";
      if (m.data == y.data && !detail::is_in_place(m, y))
        return "the result is an input, but with another stride or element size";
    }
    if (long_index_t{ceil_div(args.rows, Tile.rows())} * ceil_div(args.cols, Tile.cols()) > 0x7fffffff)
      return "there are more than 2^31 tiles";
    return nullptr;
  }
  static constexpr exec::block_index grid(const args_type& args) {
    return {ceil_div(args.rows, Tile.rows()) * ceil_div(args.cols, Tile.cols()), 1, 1};
  }

  TILEWRIGHT_HD void operator()(const args_type& args) const {
    const unsigned across = unsigned(ceil_div(args.cols, Tile.cols())), tile = unsigned(exec::block_id().x);
    const index_t first = index_t(tile % across) * Tile.cols();
    const block rows(index_t(tile / across) * Tile.rows(), args.rows, args.cols);
    const auto x = cast_tile<float>(rows.load(args.x, args.x_stride, first));
    if constexpr (has_two) {
      const auto x2 = cast_tile<float>(rows.load(args.x2, args.x2_stride, first));
      rows.store(args.y, args.y_stride, first, cast_tile<Result>(tile_elementwise_in(Function{}, x, x2)));
    } else {
      rows.store(args.y, args.y_stride, first, cast_tile<Result>(tile_elementwise_in(Function{}, x)));
    }
  }
};

}  // namespace tilewright
