// SPDX-License-Identifier: MIT
// Sum, maximum with its index, and mean and variance of rows of any length.
#pragma once

#include <tilewright/rows/row_column.hpp>
#include <tilewright/rows/row_moments.hpp>

namespace tilewright {

/// One result for each row of x. Stride in elements.
template <class T>
struct row_reduction_args {
  const T* x = nullptr;
  float* y = nullptr;         // sums, maxima or means
  float* variance = nullptr;  // of the elements, divided by cols; mean_variance only
  index_t* index = nullptr;   // column of the first largest element; maximum only, optional
  index_t rows = 0, cols = 0;
  long_index_t x_stride = 0;
};

enum class row_reduction_kind : signed char { sum, maximum, mean_variance };

/// Reads each row once; sums are those of floats. A NaN loses against numbers in a maximum; a row of NaN alone has no
/// index: 2^31 - 1.
template <class Arch, class T, row_tile Tile, row_reduction_kind Kind>
struct row_reduction {
  using arch = Arch;
  using args_type = row_reduction_args<T>;
  using block = detail::row_block<Arch, Tile>;
  static constexpr bool is_max = Kind == row_reduction_kind::maximum, is_sum = Kind == row_reduction_kind::sum;
  static constexpr index_t reductions = is_sum ? 1 : is_max ? 2 : 3;
  static constexpr index_t block_size = Tile.threads, lds_bytes = reductions * block::lds_bytes;

  /// What this kernel cannot do with these arguments, as a sentence; nullptr when it can.
  static constexpr const char* check(const args_type& args) {
    const detail::row_matrix x{args.x, args.rows, args.cols, args.x_stride, sizeof(T)};
    if (const char* why = detail::check_matrix(x, Tile.vector, Tile.rows())) return why;
    if (!args.y || (!is_max && !is_sum && !args.variance)) return "a pointer is null: y, or variance";
    if (!is_max && args.index) return "only a maximum has an index";
    const void* const results[] = {args.y, args.variance, args.index};
    for (const void* result : results) {
      const detail::row_matrix written{result, 1, args.rows, args.rows, 4};
      if (result && detail::overlap(written, x)) return "a result overlaps the input";
    }
    return nullptr;
  }
  static constexpr exec::block_index grid(const args_type& args) { return {ceil_div(args.rows, Tile.rows()), 1, 1}; }

  TILEWRIGHT_HD void operator()(const args_type& args) const {
    const auto lds = block::template allocate<lds_bytes>();
    const block rows(exec::block_id().x * Tile.rows(), args.rows, args.cols);
    const auto load = [&](index_t first) TILEWRIGHT_INLINE_LAMBDA { return rows.load(args.x, args.x_stride, first); };
    constexpr float minus_infinity = bit_cast<float>(0xff800000u);
    constexpr index_t none = 0x7fffffff;
    detail::row_moments<block> moments;
    auto& y = moments.mean;
    static_distributed_tensor<index_t, typename block::of_rows> index;
    set_tile(y, is_max ? minus_infinity : 0.0f);
    set_tile(index, none);

    auto part = load(0);
    rows.forward(part, load, [&](const auto& x, index_t first) TILEWRIGHT_INLINE_LAMBDA {
      auto e = cast_tile<float>(x);
      if constexpr (is_sum) {
        tile_elementwise_inout([](float& s, float more) { s += more; }, y, block::reduce_own(e, plus));
      } else if constexpr (is_max) {
        rows.mask(e, first, minus_infinity);
        const auto before = y;
        tile_elementwise_inout([](float& m, float more) { m = exec::max(m, more); }, y, block::reduce_own(e, max));
        const auto found = detail::first_equal(rows, e, y, first, none);
        tile_elementwise_inout(
            [&](index_t& i, index_t in_part, float old, float m) { i = m > old || i == none ? in_part : i; }, index,
            found, before, y);
      } else {
        moments.add(rows, e, first, lds);
      }
    });
    if constexpr (is_sum) {
      block::reduce_threads(plus, lds, y);
    } else if constexpr (is_max) {
      const auto own = y;
      block::reduce_threads(max, lds, y);
      tile_elementwise_inout([&](index_t& i, float mine, float m) { i = mine == m ? i : none; }, index, own, y);
      block::reduce_threads(min, lds + block::lds_bytes, index);
      if (args.index) rows.store_rows(args.index, index);
    } else {
      moments.finish(rows, lds);
      tile_elementwise_inout([&](float& s) { s *= 1.0f / float(args.cols); }, moments.squares);
      rows.store_rows(args.variance, moments.squares);
    }
    rows.store_rows(args.y, y);
  }
};

}  // namespace tilewright
