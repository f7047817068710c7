// SPDX-License-Identifier: MIT
// Quantisation to fp8 or int8 with scales, of a matrix or of an element-wise function such as SwiGLU.
#pragma once

#include <tilewright/kernels/rows/row_scales.hpp>
#include <tilewright/tile/registers/element_functions.hpp>

namespace tilewright {

/// y times scale = f(x) or f(x, x2). Strides in elements.
template <class T, class Result>
struct quantise_args {
  const T* x = nullptr;                                       ///< input
  const T* x2 = nullptr;                                      ///< for functions of two elements
  Result* y = nullptr;                                        ///< result, 8 bits
  float* scale = nullptr;                                     ///< for each row, or each group of 128 elements of a row
  index_t rows = 0, cols = 0;                                 ///< of x and y
  long_index_t x_stride = 0, x2_stride = 0, y_stride = 0;     ///< from row to row
  long_index_t scale_row_stride = 1, scale_group_stride = 0;  ///< of scales per 128 both are needed
};

/// The tile for elements of 2 bytes with scales per 128 elements, of any alignment: fastest on an H100.
constexpr row_tile choose_group_scales_tile(index_t cols, index_t element_bytes) {
  row_tile tile{.threads = 256, .threads_per_row = 256, .vectors = 2, .vector = 16 / element_bytes};
  if (cols <= 2048) tile.threads_per_row = cols <= 1024 ? 32 : 64, tile.vectors = 4;
  return tile;
}

/// Rows up to Tile.cols() elements are read once. With scales per row longer ones are read twice. Function: of one
/// float, or of two floats, without state, with f(0) = 0.
template <class Arch, class T, class Result, row_tile Tile, scale_kind Scales = scale_kind::per_row,
          class Function = copy_function>
struct quantise_rows {
  using arch = Arch;
  using args_type = quantise_args<T, Result>;
  using block = detail::row_block<Arch, Tile, detail::access_v<Tile, Scales>>;
  static_assert(sizeof(Result) == 1 && Scales != scale_kind::none,
                "quantise_rows: a result of 8 bits with scales; map_tensor writes other results");
  /// Function takes an element of x and one of x2
  static constexpr bool has_two = requires(Function f) { f(0.0f, 0.0f); };
  /// A part of x, and of x2.
  struct inputs {
    typename block::template packed_segment<T> of[has_two ? 2 : 1];  ///< of x, and of x2
  };
  /// LDS for rows that do not fit in registers
  static constexpr index_t cached_bytes = Scales == scale_kind::per_row ? block::template cached_bytes<inputs> : 0;
  static constexpr index_t block_size = Tile.threads,
                           lds_bytes = cached_bytes + (Scales == scale_kind::per_row ? block::lds_bytes : 0);
  static constexpr index_t cluster = Tile.blocks, blocks_at_once = block::blocks_at_once;
  static constexpr bool overlaps_previous = detail::overlaps_previous_v<Arch>;

  /// What this kernel, or the same with another tile, cannot do with these arguments, as an error message; nullptr:
  /// it can.
  static constexpr const char* check(const args_type& args, const row_tile& tile = Tile) {
    const auto x = detail::rows_of(args, args.x, args.x_stride);
    const auto x2 = detail::rows_of(args, args.x2, args.x2_stride);
    const auto y = detail::rows_of(args, args.y, args.y_stride);
    const detail::row_matrix inputs[] = {x, has_two ? x2 : x};
    for (const detail::row_matrix& m : inputs) {
      if (const char* why = block::check(tile, m, y)) return why;
      if (detail::overlap(m, y)) return "the memory from the result's first element to its last overlaps an input's";
      if (const char* why = detail::check_scales<Scales>(detail::scales_of(args), m, y)) return why;
    }
    return nullptr;
  }
  static constexpr exec::block_index grid(const args_type& args, const row_tile& tile = Tile) {
    return block::grid(tile, args.rows);
  }

  TILEWRIGHT_HD void operator()(const args_type& args) const {
    const auto rows = block::of_grid(args.rows, args.cols, args.y, args.y_stride);
    const auto row_cache = block::template allocate<lds_bytes>();
    detail::start_cluster<Tile.blocks>();
    const bool is_copied =
        !has_two && Scales == scale_kind::per_row && rows.copy_segments(row_cache, args.x, args.x_stride);
    const auto load = [&](index_t first) TILEWRIGHT_INLINE_LAMBDA {
      inputs segment;
      segment.of[0] = rows.load(args.x, args.x_stride, first);
      if constexpr (has_two) segment.of[1] = rows.load(args.x2, args.x2_stride, first);
      return segment;
    };
    const auto function = [&](const inputs& segment, index_t) TILEWRIGHT_INLINE_LAMBDA {
      if constexpr (has_two) {
        return tile_elementwise_in(Function{}, block::to_float(segment.of[0]), block::to_float(segment.of[1]));
      } else {
        return tile_elementwise_in(Function{}, block::to_float(segment.of[0]));
      }
    };
    if constexpr (Scales == scale_kind::per_128) {
      auto segment = load(rows.last_segment());
      detail::store_segments<Scales, Tile>(rows, segment, load, function, args.y, args.y_stride,
                                           detail::scales_of(args));
    } else {
      const auto first_load = [&](index_t first) TILEWRIGHT_INLINE_LAMBDA {
        return rows.template load_first<inputs>(row_cache, is_copied, first, load);
      };
      const auto again = [&](index_t first) TILEWRIGHT_INLINE_LAMBDA {
        return function(rows.load_again(row_cache, first, load), first);
      };
      const auto combine = [&](float& largest) TILEWRIGHT_INLINE_LAMBDA {
        block::reduce_threads(max, row_cache + cached_bytes, largest);
        return 1.0f;
      };
      auto segment = first_load(0);
      detail::store_scaled_rows<false>(rows, segment, first_load, function, combine, again, args.y, args.y_stride,
                                       detail::scales_of(args));
    }
  }
};

}  // namespace tilewright
