// SPDX-License-Identifier: MIT
// The tile of a permutation: its size, and which threads read and write which of its elements.
#pragma once

#include <tilewright/core/base/math.hpp>
#include <tilewright/core/distribution/tile_distribution.hpp>
#include <tilewright/core/lds/layout_solver.hpp>
#include <tilewright/core/lds/lds_proof.hpp>
#include <tilewright/machine/exec/exec.hpp>

namespace tilewright::detail {

/// How a block of 256 threads holds a tile as squares of `vector` x `vector` elements. x is read along columns, y is
/// written along rows.
struct permute_tile {
  index_t element_bytes, vector, rows, cols, wave;

  /// Lanes that read next to each other: 128 bytes, as far as the wave and the tile allow.
  TILEWRIGHT_HD constexpr index_t lanes_beside() const {
    return min(min(wave, cols / vector), 128 / (vector * element_bytes));
  }
  TILEWRIGHT_HD constexpr index_t lanes_below() const { return wave / lanes_beside(); }
  TILEWRIGHT_HD constexpr index_t waves_beside() const { return min(256 / wave, cols / vector / lanes_beside()); }
  TILEWRIGHT_HD constexpr index_t waves_below() const { return 256 / wave / waves_beside(); }
  /// Squares of one thread.
  TILEWRIGHT_HD constexpr index_t squares_beside() const { return cols / vector / lanes_beside() / waves_beside(); }
  TILEWRIGHT_HD constexpr index_t squares_below() const { return rows / vector / lanes_below() / waves_below(); }
  /// Element d of a thread that reads x's rows, where rows and columns, of squares and in them, change places.
  TILEWRIGHT_HD constexpr index_t transposed(index_t d) const {
    const index_t j = d % vector, i = d / vector % vector, square = d / (vector * vector);
    return ((square % squares_beside() * squares_below() + square / squares_beside()) * vector + j) * vector + i;
  }
};

/// The distribution in which x's rows are read, and the same threads' view of the transposed tile.
template <permute_tile Tile, bool Transposed>
inline constexpr distribution_encoding permute_squares = [] {
  using along_rows = sequence<Tile.squares_below(), Tile.waves_below(), Tile.lanes_below(), Tile.vector>;
  using along_cols = sequence<Tile.squares_beside(), Tile.waves_beside(), Tile.lanes_beside(), Tile.vector>;
  using y_major = sequence<1, 2, 1, 2>;
  using y_minor = sequence<0, 0, 3, 3>;
  if constexpr (Transposed) {
    return tile_distribution_encoding<sequence<>, tuple<along_cols, along_rows>, tuple<sequence<2, 1>, sequence<2, 1>>,
                                      tuple<sequence<1, 1>, sequence<2, 2>>, y_major, y_minor>::value;
  } else {
    return tile_distribution_encoding<sequence<>, tuple<along_rows, along_cols>, tuple<sequence<1, 2>, sequence<1, 2>>,
                                      tuple<sequence<1, 1>, sequence<2, 2>>, y_major, y_minor>::value;
  }
}();

/// The distribution in which y's rows are written: vectors, lanes, then waves.
template <permute_tile Tile>
inline constexpr distribution_encoding permute_rows = [] {
  constexpr index_t vectors = Tile.rows / Tile.vector, lanes = min(Tile.wave, vectors), cols = Tile.wave / lanes,
                    waves = 256 / Tile.wave;
  return tile_distribution_encoding<
      sequence<>, tuple<sequence<Tile.cols / waves / cols, waves, cols>, sequence<vectors / lanes, lanes, Tile.vector>>,
      tuple<sequence<1>, sequence<1, 2>>, tuple<sequence<1>, sequence<2, 1>>, sequence<1, 2, 2>,
      sequence<0, 0, 2>>::value;
}();

/// Bytes from the tensors' starts to the rows, or to the columns, of a tile: `entries` for each of both tensors in LDS.
/// Those a vector apart are neighbours, so that there are no bank conflicts.
template <class Offset, index_t Vector>
struct permute_table {
  exec::lds_pointer lds;
  index_t entries;  // a vector more than rows or columns

  TILEWRIGHT_HD index_t place(index_t tensor, index_t i) const {
    return (tensor * entries + modulo(i, Vector) * divide(entries, Vector) + divide(i, Vector)) *
           index_t(sizeof(Offset));
  }
  /// What thread `number` of those that write neighbouring entries writes.
  TILEWRIGHT_HD index_t index_of(index_t number) const {
    return modulo(number, divide(entries, Vector)) * Vector + divide(number, divide(entries, Vector));
  }
  TILEWRIGHT_HD Offset operator()(index_t tensor, index_t i) const {
    return exec::lds_load<Offset>(lds, place(tensor, i));
  }
  TILEWRIGHT_HD void set(index_t i, const array<Offset, 2>& offsets, bool exists, Offset if_not) const {
    TILEWRIGHT_UNROLL_ALL
    for (index_t t = 0; t < 2; ++t) exec::lds_store(lds, place(t, i), exists ? offsets[t] : if_not);
  }
  TILEWRIGHT_HD static Offset sum(Offset a, Offset b) {
    if constexpr (sizeof(Offset) == 4) return Offset(unsigned(a) + unsigned(b));
    return a + b;
  }
};

/// How a block holds a tile of T in registers and LDS: read from x, the same columns as LDS gets them, written to y.
template <class Arch, class T, permute_tile Tile>
struct permute_path {
  using read = tile_distribution<permute_squares<Tile, false>>;
  using turned = tile_distribution<permute_squares<Tile, true>>;
  using written = tile_distribution<permute_rows<Tile>>;
  static constexpr lds_layout_choice choice = choose_lds_layout<Arch>(
      lds_tile{Tile.cols, Tile.rows, sizeof(T)}, lds_use{turned::encoding, lds_access_kind::write},
      lds_use{written::encoding, lds_access_kind::read});
  using layout = decltype(make_lds_descriptor<choice.layout>());
  static_assert(require_conflict_free<lds_access<Arch, layout{}, turned, T, lds_access_kind::write>,
                                      lds_access<Arch, layout{}, written, T, lds_access_kind::read>>());
};

}  // namespace tilewright::detail
