// SPDX-License-Identifier: MIT
// How a permutation is divided into tiles: which loops are a tile's rows and columns, and where rows of y are aligned.
#pragma once

#include <tilewright/kernels/tensor/detail/permuted_tensors.hpp>

namespace tilewright::detail {

/// How many elements a tile has.
struct unaligned_tile {
  index_t element_bytes;
  static constexpr index_t least_run = 8;

  constexpr index_t vector() const { return 16 / element_bytes; }
  constexpr index_t rows() const { return element_bytes == 1 ? 256 : element_bytes == 8 ? 64 : 128; }
  constexpr index_t cols() const { return element_bytes == 1 ? 128 : 256 / element_bytes; }
  constexpr index_t halo() const { return 32 / element_bytes; }
  constexpr index_t lds_rows() const { return rows() + halo(); }
  constexpr index_t slots() const { return cols() / vector() + 1; }
};

/// The tile of a block.
struct permute_position {
  long_index_t outer, first_row, first_group;
  index_t first_in_run;
};

/// What crosses to the device. The rows of a tile are contiguous in y. Threads start up to `halo` - 1 rows earlier, at
/// a multiple of 32 bytes in memory, so that no two tiles write to one sector; a tile therefore loads `halo` rows
/// before its first own one. If rows are short and consecutive ones are adjacent in y, a tile has several of them (a
/// run) and needs no halo.
template <class T>
struct permute_plan : permuted_tensors<T> {
  loop_nest<2> rows, cols, outer;  // offsets in x, offsets in y; cols in vectors
  index_t cols_length = 1;         // elements of the innermost loop over columns
  long_index_t columns = 1;
  index_t halo = 0, own_rows = 1, run = 0;
  index_t groups = 1;      // vectors of columns in a tile
  index_t more_slots = 1;  // of a run of columns that are contiguous in x, than it has vectors
  long_index_t tiles_below = 0, tiles_beside = 0;

  static constexpr index_t panel = 8;  // tiles along y that are moved before the next ones along x
  constexpr long_index_t tiles() const { return tiles_below * tiles_beside * outer.iterations; }
  TILEWRIGHT_HD constexpr permute_position position(index_t block) const {
    const unsigned below = unsigned(tiles_below), beside = unsigned(tiles_beside),
                   outer_index = unsigned(block) / (below * beside);
    const unsigned i = unsigned(block) - outer_index * below * beside, first = i / (panel * beside) * panel;
    const unsigned height = min(unsigned(panel), below - first), in_panel = i - first * beside;
    const long_index_t group = long_index_t{in_panel / height} * groups;
    return {outer_index, long_index_t{first + in_panel % height} * own_rows - halo, group,
            index_t(unsigned(group) % unsigned(cols.lengths[0]))};
  }
};

/// Divides the loops over x and y: columns begin with the loop of x's smallest stride, rows with that of y's. Then
/// rows, after them columns get loops of their tensor's next smallest strides while they are shorter than a tile. Rows
/// are contiguous in y. The other loops, unless they continue rows, are outside of tiles. There are no rows if both
/// smallest strides are those of one loop.
template <class T>
constexpr permute_plan<T> plan_permutation(const strided_tensor<const T>& x, const strided_tensor<T>& y) {
  constexpr unaligned_tile tile{sizeof(T)};
  permute_plan<T> plan{tensors_of(x, y), {}, {}, {}};
  auto &rows = plan.rows, &cols = plan.cols, &outer = plan.outer;
  permuted_loops loops{loops_over(x, y)};
  if (loops.all.loops < 2 || loops.next(0) == loops.next(1)) return plan;
  loops.give(loops.next(0), cols);
  plan.cols_length = cols.lengths[0];
  loops.give(0, rows);
  const auto continues = [&](index_t d) {
    return d >= 0 && loops.all.strides[d][1] == rows.elements() * loops.all.strides[0][1];
  };
  for (index_t d = loops.next(1); continues(d) && rows.elements() < tile.rows(); d = loops.next(1)) loops.give(d, rows);
  if (rows.elements() >= tile.least_run && rows.elements() <= tile.rows() / 2 &&
      cols.strides[0][1] == rows.elements() * loops.all.strides[0][1]) {
    plan.run = index_t(rows.elements());
    for (index_t d = loops.next(1); d >= 0; d = loops.next(1)) loops.give(d, rows);
  }
  for (index_t d = loops.next(0); d >= 0 && cols.elements() < tile.cols(); d = loops.next(0)) loops.give(d, cols);
  for (index_t d = loops.next(1); d >= 0; d = loops.next(1))
    loops.give(d, outer.loops == 0 && continues(d) ? rows : outer);
  plan.columns = cols.elements();
  cols.vectorise(tile.vector());
  for (loop_nest<2>* nest : {&rows, &cols, &outer}) nest->finish({tile.element_bytes, tile.element_bytes});
  plan.halo = plan.run > 0 ? 0 : tile.halo();
  plan.own_rows = plan.run > 0 ? tile.lds_rows() / plan.run * plan.run : tile.rows();
  // Two where neither runs nor x's rows start at a vector.
  for (index_t d = 1; d < cols.loops; ++d) plan.more_slots = cols.strides[d][0] % 16 != 0 ? 2 : plan.more_slots;
  const auto slots = [&](index_t groups) {
    const index_t run = cols.lengths[0], aligned = groups % run == 0 ? groups / run : run % groups == 0 ? 1 : 0;
    return groups + plan.more_slots * (cols.loops == 1 ? 1 : aligned > 0 ? aligned : ceil_div(groups - 1, run) + 1);
  };
  plan.groups = tile.cols() / tile.vector();
  while (slots(plan.groups) > tile.slots() || plan.groups * tile.vector() % 4 != 0) --plan.groups;  // stored by fours
  plan.tiles_below = ceil_div(rows.iterations, long_index_t{plan.own_rows});
  plan.tiles_beside = ceil_div(cols.iterations, long_index_t{plan.groups});
  return plan;
}

}  // namespace tilewright::detail
