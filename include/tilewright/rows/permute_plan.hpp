// SPDX-License-Identifier: MIT
// How a permutation is divided into tiles: which loops are a tile's rows and columns, and where rows of y are aligned.
#pragma once

#include <tilewright/rows/loop_nest.hpp>
#include <tilewright/rows/permute_tile.hpp>

namespace tilewright::detail {

/// The tile of a block.
struct permute_position {
  long_index_t outer, first_row, first_col;
};

/// What crosses to the device. The rows of a tile are contiguous in y. Threads begin up to `halo` - 1 rows earlier, at
/// the multiple of `halo` elements in memory; so that these rows are there, a tile begins `halo` rows before the first
/// one that is its own.
template <class T>
struct permute_plan {
  const T* x;
  T* y;
  long_index_t x_bytes, y_bytes;
  loop_nest<2> rows, cols, outer;  // offsets in x, offsets in y; cols in vectors
  index_t cols_length = 1;         // elements of the innermost loop over columns
  long_index_t columns = 1;
  index_t halo = 0, own_rows = 1;
  long_index_t tiles_below = 0, tiles_beside = 0;

  static constexpr index_t panel = 8;  // tiles along y that are moved before the next ones along x
  constexpr long_index_t tiles() const { return tiles_below * tiles_beside * outer.iterations; }
  TILEWRIGHT_HD constexpr permute_position position(index_t block, index_t tile_cols) const {
    const unsigned below = unsigned(tiles_below), beside = unsigned(tiles_beside),
                   outer_index = unsigned(block) / (below * beside);
    const unsigned i = unsigned(block) - outer_index * below * beside, first = i / (panel * beside) * panel;
    const unsigned height = min(unsigned(panel), below - first), in_panel = i - first * beside;
    return {outer_index, long_index_t{first + in_panel % height} * own_rows - halo,
            long_index_t{in_panel / height} * tile_cols};
  }
  /// The index of a tile's row, or -1.
  TILEWRIGHT_HD constexpr long_index_t row_of(const permute_position& tile, index_t i) const {
    return tile.first_row + i < rows.iterations ? tile.first_row + i : -1;
  }
};

/// Divides the loops over x and y: columns begin with the loop of x's smallest stride, rows with that of y's. Then
/// rows, after them columns get loops of their tensor's next smallest strides while they are shorter than a tile. Rows
/// are contiguous in y. The other loops, unless they continue rows, are outside of tiles. There are no rows if both
/// smallest strides are those of one loop.
template <class T>
constexpr permute_plan<T> plan_permutation(const strided_tensor<const T>& x, const strided_tensor<T>& y,
                                           const permute_tile& tile) {
  permute_plan<T> plan{x.data, y.data, span_of(x) * long_index_t(sizeof(T)), span_of(y) * long_index_t(sizeof(T)), {},
                       {},     {}};
  auto &rows = plan.rows, &cols = plan.cols, &outer = plan.outer;
  permuted_loops loops{loops_over(x, y)};
  if (loops.all.loops < 2 || loops.next(0) == loops.next(1)) return plan;
  loops.give(loops.next(0), cols);
  plan.cols_length = cols.lengths[0];
  loops.give(0, rows);
  const auto continues = [&](index_t d) {
    return d >= 0 && loops.all.strides[d][1] == rows.elements() * loops.all.strides[0][1];
  };
  for (index_t d = loops.next(1); continues(d) && rows.elements() < tile.rows; d = loops.next(1)) loops.give(d, rows);
  for (index_t d = loops.next(0); d >= 0 && cols.elements() < tile.cols; d = loops.next(0)) loops.give(d, cols);
  for (index_t d = loops.next(1); d >= 0; d = loops.next(1))
    loops.give(d, outer.loops == 0 && continues(d) ? rows : outer);
  plan.columns = cols.elements();
  cols.vectorise(tile.vector);
  for (loop_nest<2>* nest : {&rows, &cols, &outer}) nest->finish({tile.element_bytes, tile.element_bytes});
  plan.halo = 32 / tile.element_bytes;
  plan.own_rows = tile.rows - plan.halo;
  plan.tiles_below = ceil_div(rows.iterations, long_index_t{plan.own_rows});
  plan.tiles_beside = ceil_div(cols.iterations, long_index_t{tile.cols / tile.vector});
  return plan;
}

}  // namespace tilewright::detail
