// SPDX-License-Identifier: MIT
// Softmax and log-softmax of rows of any length.
#pragma once

#include <tilewright/rows/row_exponents.hpp>

namespace tilewright {

/// y = softmax of each row of x. Strides in elements. y may be x.
template <class T>
struct softmax_args {
  const T* x = nullptr;
  T* y = nullptr;
  index_t rows = 0, cols = 0;
  long_index_t x_stride = 0, y_stride = 0;
};

enum class softmax_kind : signed char { softmax, log_softmax };

/// Rows up to Tile.cols() elements are read once and stay in registers. Longer ones are read part by part, with a
/// running maximum and sum in each thread, and once more, from the last part back, when they are written.
template <class Arch, class T, row_tile Tile, softmax_kind Kind = softmax_kind::softmax>
struct softmax {
  using arch = Arch;
  using args_type = softmax_args<T>;
  using block = detail::row_block<Arch, Tile>;
  static constexpr index_t block_size = Tile.threads, lds_bytes = 2 * block::lds_bytes;
  static constexpr index_t cluster = Tile.blocks, blocks_at_once = block::blocks_at_once;

  /// What this kernel cannot do with these arguments, as a sentence; nullptr when it can.
  static constexpr const char* check(const args_type& args) {
    const detail::row_matrix x{args.x, args.rows, args.cols, args.x_stride, sizeof(T)};
    const detail::row_matrix y{args.y, args.rows, args.cols, args.y_stride, sizeof(T)};
    if (const char* why = detail::check_matrix(x, Tile.vector, Tile.rows())) return why;
    if (const char* why = detail::check_matrix(y, Tile.vector, Tile.rows())) return why;
    if (detail::overlap(x, y) && !detail::is_in_place(x, y))
      return "the result overlaps the input, but is not the input";
    return nullptr;
  }
  static constexpr exec::block_index grid(const args_type& args) { return block::grid(args.rows); }

  TILEWRIGHT_HD void operator()(const args_type& args) const {
    const auto rows = block::of_grid(args.rows, args.cols);
    const auto load = [&](index_t first) TILEWRIGHT_INLINE_LAMBDA { return rows.load(args.x, args.x_stride, first); };
    detail::row_exponents<block> exponents;
    auto part = load(0);
    const auto lds = block::template allocate<2>();
    rows.forward(part, load, [&](const auto& x, index_t first) TILEWRIGHT_INLINE_LAMBDA {
      exponents.add(rows, cast_tile<float>(x), first);
    });
    exponents.finish(lds);

    // softmax: exp(x - largest) / sum; log_softmax: x - largest - log(sum).
    tile_elementwise_inout(
        [](float& s) { s = Kind == softmax_kind::softmax ? exec::rcp(s) : exec::log2(s) * detail::ln_2; },
        exponents.sum);
    rows.backward(part, load, [&](const auto& x, index_t first) TILEWRIGHT_INLINE_LAMBDA {
      auto e = cast_tile<float>(x);
      tile_elementwise_inout(
          [](float& a, float m, float s) {
            if constexpr (Kind == softmax_kind::softmax) {
              a = exec::exp2((a - m) * detail::log2_e) * s;
            } else {
              a = a - m - s;
            }
          },
          e, along<0>(exponents.largest), along<0>(exponents.sum));
      rows.store(args.y, args.y_stride, first, cast_tile<T>(e));
    });
  }
};

}  // namespace tilewright
