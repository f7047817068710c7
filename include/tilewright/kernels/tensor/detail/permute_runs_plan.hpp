// SPDX-License-Identifier: MIT
// How a permutation of short dimensions is divided into tiles whose rows are long in both tensors.
#pragma once

#include <tilewright/kernels/tensor/detail/permuted_tensors.hpp>

namespace tilewright::detail {

/// What crosses to the device. Loops over p, a and d elements; a or d may be 1. x has rows of p * d contiguous
/// elements, one for each a, and y rows of p * a, one for each d. A tile has `tile_p` of p, all of a and d, and
/// `tile_outer` iterations of the other loops.
template <class T>
struct permute_runs_plan : permuted_tensors<T> {
  loop_nest<2> outer;  // offsets in x, offsets in y
  index_t a = 1, p = 0, d = 1, tile_p = 1, tile_outer = 1;
  bool has_a_in_rows = false;                             // of x: its rows continue each other
  long_index_t x_of_a = 0, y_of_d = 0;                    // bytes from one to the next
  index_t slots = 0, of_a = 0, pad = 0, outer_bytes = 0;  // vectors of a row of x in LDS; bytes there
  index_t vectors = 0;                                    // of a row of y
  index_t beside = 1, groups = 1;  // rows of y that neighbouring lanes write; threads that share the rows
  magic_division by_a{}, by_slots{}, by_rows{}, by_vectors{}, by_beside{}, by_groups{};

  using permuted_tensors<T>::size, permuted_tensors<T>::vector;
  /// How many bytes of elements a tile has at most, with the ends of rows, and how many iterations of outer loops.
  static constexpr index_t tile_bytes = 24576, lds_bytes = 36864, most_outer = 128;

  TILEWRIGHT_HD constexpr index_t x_rows() const { return has_a_in_rows ? 1 : a; }
  /// Bytes of a row of x in a tile that covers of_p elements of p.
  TILEWRIGHT_HD constexpr index_t x_row_bytes(index_t of_p) const { return (has_a_in_rows ? a : 1) * of_p * d * size; }
  /// Bytes in LDS from a = 0 on. Rows a vector apart are in different banks.
  TILEWRIGHT_HD constexpr index_t source_of_a(index_t i) const { return i * of_a + divide(i, vector) * pad; }
  constexpr long_index_t tiles() const {
    return p == 0 ? 0 : long_index_t{ceil_div(p, tile_p)} * ceil_div(outer.iterations, long_index_t{tile_outer});
  }
  /// Bytes of the shorter ones of both tensors' rows.
  constexpr index_t shorter_row() const { return min(x_row_bytes(tile_p), tile_p * a * size); }
  /// Bytes of elements of a tile.
  constexpr index_t bytes() const { return tile_outer * tile_p * a * d * size; }
  /// Places in LDS: the elements of a vector are as far from a multiple of 16 bytes as in x. False: there are not
  /// enough.
  constexpr bool place(index_t of_tile_p) {
    tile_p = of_tile_p;
    has_a_in_rows = tile_p == p && x_of_a == long_index_t{p} * d * size && x_of_a < 64;
    slots = ceil_div(15 + x_row_bytes(tile_p), 16) | 1;
    of_a = has_a_in_rows ? index_t(x_of_a) : slots * 16 + index_t(x_of_a % 16);
    pad = has_a_in_rows ? 0 : 16;
    outer_bytes = round_up(31 + source_of_a(a), 16);
    return outer_bytes <= lds_bytes;
  }
  /// After place(): how threads share the vectors of y.
  constexpr void share(bool is_aligned, index_t threads) {
    vectors = ceil_div(tile_p * a + (is_aligned ? 0 : vector - 1), vector);
    // Lanes write vectors that follow each other in a row of y as far as these are in different banks.
    const index_t apart = a > vector ? source_of_a(vector) : vector / a * d * size;
    index_t banks = 32;
    while (banks > 1 && apart >= 4 && apart % (256 / banks) == 0) banks /= 2;
    beside = max(4 / size, 1);
    while (beside * banks < 32 && beside < 16) beside *= 2;
    beside = ceil_div(d, ceil_div(d, beside));
    groups = max(1, min(ceil_div(d, beside), threads / (tile_outer * vectors * beside)));
    by_a = make_magic_division(a), by_slots = make_magic_division(slots), by_rows = make_magic_division(x_rows());
    by_vectors = make_magic_division(vectors), by_beside = make_magic_division(beside);
    by_groups = make_magic_division(groups);
  }
};

/// p is empty if there is no such loop, or tiles would be too large.
template <class T>
constexpr permute_runs_plan<T> plan_runs(const strided_tensor<const T>& x, const strided_tensor<T>& y) {
  using plan_type = permute_runs_plan<T>;
  constexpr index_t size = plan_type::size, vector = plan_type::vector, most = plan_type::tile_bytes / size;
  plan_type best{tensors_of(x, y), {}};
  const permuted_loops loops{loops_over(x, y)};
  const loop_nest<2>& all = loops.all;
  const index_t along_x = loops.next(0), along_y = loops.next(1);
  if (all.loops < 2 || along_x == along_y || all.strides[along_x][0] != 1 || all.strides[along_y][1] != 1) return best;
  for (index_t i = 0; i < all.loops; ++i) {
    plan_type plan = best;
    plan.a = i == along_y ? 1 : all.lengths[along_y];
    plan.d = i == along_x ? 1 : all.lengths[along_x];
    plan.p = all.lengths[i];
    if (all.strides[i][0] != plan.d || all.strides[i][1] != plan.a || long_index_t{plan.a} * plan.d > most) continue;
    plan.x_of_a = i == along_y ? 0 : all.strides[along_y][0] * size;
    plan.y_of_d = i == along_x ? 0 : all.strides[along_x][1] * size;
    plan.outer = {};
    for (index_t o = 0; o < all.loops; ++o) {
      if (o != i && o != along_x && o != along_y)
        plan.outer.add(all.lengths[o], {all.strides[o][0], all.strides[o][1]});
    }
    plan.outer.finish({size, size});
    const index_t elements = most / (plan.a * plan.d);
    plan.tile_outer = 1;
    bool fits = plan.place(plan.p <= elements ? plan.p : elements < vector ? elements : elements / vector * vector);
    while (!fits && plan.tile_p > 1) fits = plan.place(plan.tile_p - min(plan.tile_p - 1, vector));
    if (!fits || (best.p > 0 && plan.shorter_row() <= best.shorter_row())) continue;
    if (plan.tile_p == plan.p)
      plan.tile_outer = index_t(min(long_index_t{min(plan.most_outer, plan.lds_bytes / plan.outer_bytes)},
                                    min(plan.outer.iterations, long_index_t{max(plan.tile_bytes / plan.bytes(), 1)})));
    bool is_aligned = detail::is_aligned(y.data) && plan.y_of_d % 16 == 0;
    for (index_t o = 0; o < plan.outer.loops; ++o) is_aligned = is_aligned && plan.outer.strides[o][1] % 16 == 0;
    is_aligned = is_aligned && (plan.tile_p == plan.p || plan.tile_p * plan.a % vector == 0);
    plan.share(is_aligned, 256);
    best = plan;
  }
  return best;
}

}  // namespace tilewright::detail
