// SPDX-License-Identifier: MIT
// Ready-made distributions of a two-dimensional tile for copies: how the waves of a block share its rows.
#pragma once

#include <tilewright/core/base/math.hpp>
#include <tilewright/core/base/trap.hpp>
#include <tilewright/core/distribution/tile_distribution.hpp>

namespace tilewright {

/// Lanes of a wave run along a row first, then along neighbouring rows; each holds a vector of neighbours of a row.
/// When a wave does not cover its rows at once it iterates over them.
enum class tile_distribution_pattern : signed char {
  thread_raked,  // a wave's rows are together; so are those of a lane
  warp_raked,    // a wave's rows are together; lanes take every n-th of them
  block_raked,   // the block takes its rows from top to bottom, all waves next to each other
};

/// A copy of rows x cols elements by `waves` waves of `wave_size` lanes, in vectors of up to `vector`
/// elements along a row (fewer if some threads would have nothing to do). With wave_groups > 1 that many
/// groups of waves each hold the whole tile.
struct tile_copy_2d {
  index_t rows, cols;        ///< of the tile
  index_t vector;            ///< elements of a vector at most
  index_t waves, wave_size;  ///< waves that share the tile; lanes of each
  index_t wave_groups = 1;   ///< groups that hold the whole tile
};

namespace detail {

/// Why a copy cannot be divided: what must divide what; tile_distribution_encoding_pattern_2d has the error messages.
enum class pattern_fault { none, not_positive, groups, vector, rows };

/// How a copy is divided, and why it cannot be where `fault` says so.
struct pattern_2d {
  pattern_fault fault = pattern_fault::none;
  index_t vector = 0;    // elements of a vector
  index_t lanes_x = 0;   // lanes along a row
  index_t lanes_y = 0;   // rows that a wave covers at once
  index_t waves = 0;     // that share the rows
  index_t repeat_x = 0;  // vectors of a thread along a row
  index_t repeat_y = 0;  // rows of a thread
};

// Reaching this in a constant expression is the error: see divide_copy.
TILEWRIGHT_HD void copy_cannot_be_divided() { trap(); }

}  // namespace detail

/// How a copy is divided among waves and lanes; `fault` says why it cannot be.
TILEWRIGHT_HD constexpr detail::pattern_2d divide_copy(const tile_copy_2d& copy) {
  using enum detail::pattern_fault;
  if (min(min(copy.rows, copy.cols), min(copy.vector, copy.wave_groups)) < 1 || min(copy.waves, copy.wave_size) < 1)
    return {not_positive};
  if (copy.waves % copy.wave_groups != 0) return {groups};
  detail::pattern_2d p;
  p.waves = copy.waves / copy.wave_groups;
  p.vector = max(1, min(copy.vector, copy.rows * copy.cols / (p.waves * copy.wave_size)));
  if (copy.cols % p.vector != 0) return {vector};
  const index_t per_row = copy.cols / p.vector;
  p.lanes_x = detail::gcd(per_row, copy.wave_size);  // as many as divide the vectors of a row
  p.lanes_y = copy.wave_size / p.lanes_x;
  p.repeat_x = per_row / p.lanes_x;
  if (copy.rows % (p.lanes_y * p.waves) != 0) return {rows};
  p.repeat_y = copy.rows / (p.lanes_y * p.waves);
  return p;
}

/// The distribution of a copy; with `shuffled` a thread's registers list columns before rows. For
/// divide_copy(copy).fault == pattern_fault::none.
TILEWRIGHT_HD constexpr distribution_encoding make_pattern_encoding(tile_distribution_pattern pattern,
                                                                    const tile_copy_2d& copy, bool shuffled = false) {
  using enum tile_distribution_pattern;
  const detail::pattern_2d p = divide_copy(copy);
  if (p.fault != detail::pattern_fault::none) detail::copy_cannot_be_divided();
  distribution_encoding e;
  e.p.push_back({});
  e.p.push_back({});
  e.h.push_back({});
  e.h.push_back({});
  // Place of each factor of the rows.
  const signed char waves = pattern == block_raked ? 1 : 0;
  const signed char lanes = pattern == thread_raked ? 1 : 2;
  const signed char repeat = static_cast<signed char>(3 - waves - lanes);
  for (signed char minor = 0; minor < 3; ++minor)
    e.h[0].push_back(minor == waves ? p.waves : minor == lanes ? p.lanes_y : p.repeat_y);
  const signed char wide = p.repeat_x > 1 ? 1 : 0;
  if (wide) e.h[1].push_back(p.repeat_x);
  e.h[1].push_back(p.lanes_x);
  e.h[1].push_back(p.vector);

  if (copy.wave_groups > 1) {
    e.r.push_back(copy.wave_groups);
    e.p[0].push_back({0, 0});
  }
  e.p[0].push_back({1, waves});
  e.p[1].push_back({1, lanes});
  e.p[1].push_back({2, wide});
  const auto columns = [&] {
    if (wide) e.y.push_back({2, 0});
    e.y.push_back({2, static_cast<signed char>(wide + 1)});
  };
  if (shuffled) columns();
  e.y.push_back({1, repeat});
  if (!shuffled) columns();
  return e;
}

/// CK Tile's spelling. YPerTile rows, XPerTile columns; WaveSize is 64 on CDNA, 32 on RDNA and NVIDIA.
template <index_t BlockSize, index_t YPerTile, index_t XPerTile, index_t VecSize, tile_distribution_pattern Pattern,
          index_t NumWaveGroups = 1, index_t WaveSize = 64>
struct tile_distribution_encoding_pattern_2d {
  static_assert(
      BlockSize > 0 && WaveSize > 0 && BlockSize % WaveSize == 0,
      "tile_distribution_encoding_pattern_2d: the block must be a multiple of the wave; give both in threads");
  /// as one value
  static constexpr tile_copy_2d copy{YPerTile, XPerTile, VecSize, BlockSize / WaveSize, WaveSize, NumWaveGroups};
  static constexpr detail::pattern_2d pattern = divide_copy(copy);  ///< how it is divided
  static_assert(pattern.fault != detail::pattern_fault::not_positive,
                "tile_distribution_encoding_pattern_2d: rows, columns, vector and wave groups must be positive");
  static_assert(
      pattern.fault != detail::pattern_fault::groups,
      "tile_distribution_encoding_pattern_2d: the number of waves must be a multiple of the number of wave groups");
  static_assert(pattern.fault != detail::pattern_fault::vector,
                "tile_distribution_encoding_pattern_2d: a row must be a multiple of the vector");
  static_assert(
      pattern.fault != detail::pattern_fault::rows,
      "tile_distribution_encoding_pattern_2d: the rows must be a multiple of those that all waves cover at once");

  static constexpr distribution_encoding value = make_pattern_encoding(Pattern, copy);  ///< who holds what
  /// the same with y's dimensions exchanged
  static constexpr distribution_encoding shuffled_value = make_pattern_encoding(Pattern, copy, /*shuffled=*/true);

  /// The distribution.
  TILEWRIGHT_HD static constexpr auto make_2d_static_tile_distribution() { return tile_distribution<value>{}; }
  /// The distribution whose y dimensions are exchanged.
  TILEWRIGHT_HD static constexpr auto make_shuffled_2d_static_tile_distribution() {
    return tile_distribution<shuffled_value>{};
  }
};

}  // namespace tilewright
