// SPDX-License-Identifier: MIT
// Column sums of each expert's rows: gradients of experts' biases.
#pragma once

#include <tilewright/block/rows/row_block.hpp>

namespace tilewright {

/// y[e] = sum of the rows of x that expert e has, each times the weight of its entry. Strides in elements.
template <class T>
struct expert_column_sums_args {
  const T* x = nullptr;                     ///< (rows, cols), ordered by expert
  T* y = nullptr;                           ///< (experts, cols)
  const index_t* ends = nullptr;            ///< (experts): as order_by_expert gives them
  const index_t* source = nullptr;          ///< (rows), with weights: the entry of each row
  const float* weight = nullptr;            ///< of entries, as many as rows; optional: 1
  index_t rows = 0, cols = 0, experts = 0;  ///< >= 1
  long_index_t x_stride = 0, y_stride = 0;  ///< from row to row
};

/// A block takes a segment of the columns of an expert. Rows are added in their order: the same bits in each run.
template <class Arch, class T, row_tile Tile>
struct expert_column_sums {
  using arch = Arch;
  using args_type = expert_column_sums_args<T>;
  using block = detail::row_block<Arch, Tile>;
  static_assert(Tile.rows() == 1, "expert_column_sums: all threads of a block share a row: threads == threads_per_row");
  static constexpr index_t block_size = Tile.threads, lds_bytes = 0;
  static constexpr bool overlaps_previous = detail::overlaps_previous_v<Arch>;

  /// What this kernel, or the same with another tile, cannot do with these arguments, as an error message; nullptr:
  /// it can.
  static constexpr const char* check(const args_type& args, const row_tile& tile = Tile) {
    if (args.rows < 1 || args.cols < 1 || args.experts < 1) return "rows, cols and experts must be positive";
    const detail::row_matrix x{args.x, args.rows, args.cols, args.x_stride, sizeof(T)},
        y{args.y, args.experts, args.cols, args.y_stride, sizeof(T)};
    if (const char* why = detail::check_matrix(x, tile.vector, 1)) return why;
    if (const char* why = detail::check_matrix(y, tile.vector, 1)) return why;
    if (!args.ends || (args.weight && !args.source)) return "a pointer is null: ends, or source of weights";
    const detail::row_matrix matrices[] = {y, x, detail::row_array(args.ends, args.experts),
                                           detail::row_array(args.source, args.rows),
                                           detail::row_array(args.weight, args.rows)};
    return detail::check_results(matrices, 1);
  }
  static constexpr exec::block_index grid(const args_type& args, const row_tile& tile = Tile) {
    return {args.experts, ceil_div(args.cols, tile.cols()), 1};
  }

  TILEWRIGHT_HD void operator()(const args_type& args) const {
    detail::overlap_kernels();
    const index_t expert = exec::block_id().x, first = exec::block_id().y * block::segment_cols;
    const index_t begin = expert == 0 ? 0 : exec::load_element(args.ends + (expert - 1)),
                  end = exec::load_element(args.ends + expert);
    typename block::template segment<float> sum{};
    TILEWRIGHT_UNROLL(4)
    for (index_t row = begin; row < end; ++row) {
      const float weight = args.weight ? exec::load_element(args.weight + exec::load_element(args.source + row)) : 1.0f;
      const auto x = block::to_float(block(0, 1, args.cols).load(args.x + row * args.x_stride, args.x_stride, first));
      tile_elementwise_inout([&](float& s, float a) { s += weight * a; }, sum, x);
    }
    block(0, 1, args.cols).store(args.y + expert * args.y_stride, args.y_stride, first, sum);
  }
};

}  // namespace tilewright
