// SPDX-License-Identifier: MIT
// Softmax and log-softmax of rows of any length.
#pragma once

#include <tilewright/rows/row_block.hpp>

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
  static constexpr exec::block_index grid(const args_type& args) { return {ceil_div(args.rows, Tile.rows()), 1, 1}; }

  TILEWRIGHT_HD void operator()(const args_type& args) const {
    constexpr float log2_e = 1.442695041f, ln_2 = 0.6931471806f, lowest = -3.4028235e38f;
    const auto lds = block::template allocate<2>();
    const block rows(exec::block_id().x * Tile.rows(), args.rows, args.cols);
    const auto load = [&](index_t first) TILEWRIGHT_INLINE_LAMBDA { return rows.load(args.x, args.x_stride, first); };
    typename block::row_values largest, sum;  // of this thread's elements, then of the rows
    set_tile(largest, lowest);
    set_tile(sum, 0.0f);
    const auto rescale = [](float& s, float from, float to) { s *= exec::exp2((from - to) * log2_e); };

    auto part = load(0);
    rows.forward(part, load, [&](const auto& x, index_t first) TILEWRIGHT_INLINE_LAMBDA {
      auto e = cast_tile<float>(x);
      rows.mask(e, first, bit_cast<float>(0xff800000u));
      const auto before = largest;
      tile_elementwise_inout([](float& m, float more) { m = exec::max(m, more); }, largest, block::reduce_own(e, max));
      tile_elementwise_inout([](float& a, float m) { a = exec::exp2((a - m) * log2_e); }, e, along<0>(largest));
      tile_elementwise_inout(rescale, sum, before, largest);
      tile_elementwise_inout([](float& s, float more) { s += more; }, sum, block::reduce_own(e, plus));
    });
    const auto own = largest;
    block::reduce_threads(largest, max, lds);
    tile_elementwise_inout(rescale, sum, own, largest);
    block::reduce_threads(sum, plus, lds + block::lds_bytes);

    // softmax: exp(x - largest) / sum; log_softmax: x - largest - log(sum).
    tile_elementwise_inout([](float& s) { s = Kind == softmax_kind::softmax ? exec::rcp(s) : exec::log2(s) * ln_2; },
                           sum);
    rows.backward(part, load, [&](const auto& x, index_t first) TILEWRIGHT_INLINE_LAMBDA {
      auto e = cast_tile<float>(x);
      tile_elementwise_inout(
          [](float& a, float m, float s) {
            if constexpr (Kind == softmax_kind::softmax) {
              a = exec::exp2((a - m) * log2_e) * s;
            } else {
              a = a - m - s;
            }
          },
          e, along<0>(largest), along<0>(sum));
      rows.store(args.y, args.y_stride, first, cast_tile<T>(e));
    });
  }
};

}  // namespace tilewright
