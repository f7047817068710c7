// SPDX-License-Identifier: MIT
// Distributions for copies of tiles by whole waves.
#pragma once

#include <tilewright/core/distribution/distribution_pattern.hpp>

namespace tilewright::copies {

/// A tile of rows x cols. Lanes run along a row first; each holds `vector` neighbours of a row,
/// and waves take turns with rows.
constexpr distribution_encoding along_rows(index_t rows, index_t cols, index_t waves, index_t wave_size,
                                           index_t vector) {
  return make_pattern_encoding(tile_distribution_pattern::block_raked, {rows, cols, vector, waves, wave_size});
}

/// The same with rows and columns exchanged, but for neighbours in a row that are
/// left to one lane: they are its first y.
constexpr distribution_encoding along_columns(index_t rows, index_t cols, index_t waves, index_t wave_size,
                                              index_t vector) {
  const index_t lanes_per_column = rows / vector, columns_per_wave = wave_size / lanes_per_column;
  distribution_encoding e;
  e.h.push_back({});
  e.h.push_back({});
  e.p.push_back({});
  e.p.push_back({});
  for (const index_t f : {lanes_per_column, vector}) e.h[0].push_back(f);
  for (const index_t f : {waves, columns_per_wave, cols / (waves * columns_per_wave)}) e.h[1].push_back(f);
  e.p[0].push_back({2, 0});
  e.p[1].push_back({2, 1});
  e.p[1].push_back({1, 0});
  e.y.push_back({2, 2});
  e.y.push_back({1, 1});
  return e;
}

}  // namespace tilewright::copies
