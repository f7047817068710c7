// SPDX-License-Identifier: MIT
// Softmax and log-softmax of rows of any length.
#pragma once

#include <tilewright/kernels/rows/detail/row_exponents.hpp>

namespace tilewright {

/// y = softmax of each row of x. Strides in elements. y may be x.
template <class T>
struct softmax_args {
  const T* x = nullptr;                     ///< input
  T* y = nullptr;                           ///< result; may be x
  index_t rows = 0, cols = 0;               ///< cols: elements whose results add up to 1
  long_index_t x_stride = 0, y_stride = 0;  ///< from row to row
};

enum class softmax_kind : signed char { softmax, log_softmax };

/// Rows up to Tile.cols() elements are read once and stay in registers. Longer ones are read part by part, with a
/// running maximum and sum in each thread, and once more, from the last part back, when they are written.
template <class Arch, class T, row_tile Tile, softmax_kind Kind = softmax_kind::softmax>
struct softmax {
  using arch = Arch;
  using args_type = softmax_args<T>;
  using block = detail::row_block<Arch, Tile>;
  using cached_segment = typename block::template packed_segment<T>;
  static constexpr index_t block_size = Tile.threads,
                           lds_bytes = block::template cached_bytes<cached_segment> + 2 * block::lds_bytes;
  static constexpr index_t cluster = Tile.blocks, blocks_at_once = block::blocks_at_once;
  static constexpr bool overlaps_previous = detail::overlaps_previous_v<Arch>;

  /// What this kernel, or the same with another tile, cannot do with these arguments, as an error message; nullptr:
  /// it can.
  static constexpr const char* check(const args_type& args, const row_tile& tile = Tile) {
    const auto x = detail::rows_of(args, args.x, args.x_stride);
    const auto y = detail::rows_of(args, args.y, args.y_stride);
    if (const char* why = block::check(tile, x, y)) return why;
    if (detail::aliases_partially(y, x))
      return "the memory from the result's first element to its last overlaps the input's, but the result is not the "
             "input";
    return nullptr;
  }
  static constexpr exec::block_index grid(const args_type& args, const row_tile& tile = Tile) {
    return block::grid(tile, args.rows);
  }

  TILEWRIGHT_HD void operator()(const args_type& args) const {
    const auto rows = block::of_grid(args.rows, args.cols, args.y, args.y_stride);
    const auto load = [&](index_t first) TILEWRIGHT_INLINE_LAMBDA { return rows.load(args.x, args.x_stride, first); };
    detail::row_exponents<block> exponents;
    const auto row_cache = block::template allocate<lds_bytes>();
    const auto first_load = [&](index_t first) TILEWRIGHT_INLINE_LAMBDA {
      return rows.template load_first<cached_segment>(row_cache, false, first, load);
    };
    auto segment = first_load(0);
    detail::start_cluster<Tile.blocks>();
    const auto again = [&](index_t first) TILEWRIGHT_INLINE_LAMBDA { return rows.load_again(row_cache, first, load); };
    typename block::template segment<float> e;
    rows.forward(segment, first_load, [&](const auto& x, index_t first) TILEWRIGHT_INLINE_LAMBDA {
      e = block::to_float(x);
      exponents.add(rows, e, first);
    });
    const auto own = exponents;  // e is exp(x - own.largest) of the last part
    exponents.finish(row_cache + block::template cached_bytes<cached_segment>);
    if constexpr (Kind == softmax_kind::softmax) {
      const float factor = exponents.factor(own.largest, exponents.largest) * exec::rcp(exponents.sum);
      const auto expand = [&](index_t first) TILEWRIGHT_INLINE_LAMBDA {
        auto x = block::to_float(again(first));
        own.to_exponents(x);
        return x;
      };
      rows.backward(e, expand, [&](auto& x, index_t first) TILEWRIGHT_INLINE_LAMBDA {
        detail::scale(x, factor);
        rows.store(args.y, args.y_stride, first, x);
      });
    } else {
      const float log_sum = exponents.largest + exec::log2(exponents.sum) * detail::ln_2;
      rows.backward(segment, again, [&](const auto& x, index_t first) TILEWRIGHT_INLINE_LAMBDA {
        e = block::to_float(x);
        tile_elementwise_inout([&](float& a) { a -= log_sum; }, e);
        rows.store(args.y, args.y_stride, first, e);
      });
    }
  }
};

}  // namespace tilewright
