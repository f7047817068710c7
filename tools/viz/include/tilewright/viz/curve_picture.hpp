// SPDX-License-Identifier: MIT
// Draws a curve of two dimensions: the order in which a tile is traversed. As text, SVG and JSON.
#pragma once

#include <tilewright/core/distribution/space_filling_curve.hpp>
#include <tilewright/viz/svg.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace tilewright::viz {

/// A curve of two dimensions as the list of its accesses.
struct curve_path {
  multi_index<2> lengths{};             // of the tile, in elements
  multi_index<2> scalars{{1, 1}};       // elements of one access
  std::vector<multi_index<2>> first{};  // element of each access

  index_t access_length(index_t d) const { return ceil_div(lengths[d], scalars[d]); }
  bool is_in_bounds(std::size_t i) const {
    return first[i][0] + scalars[0] <= lengths[0] && first[i][1] + scalars[1] <= lengths[1];
  }
};

/// Any curve: curve<2>, or one over a grid of tiles such as hilbert_curve and row_group_curve.
template <class Curve>
curve_path path_of(const Curve& pattern) {
  curve_path path;
  if constexpr (requires { pattern.lengths; }) {
    path = {pattern.lengths, pattern.scalars_per_access, {}};
  } else {
    path.lengths = {{pattern.rows, pattern.cols}};
  }
  for (index_t i = 0; i < pattern.get_num_of_access(); ++i) path.first.push_back(pattern.get_index(i));
  return path;
}

/// For each element of the tile the number of the access that covers it.
std::string curve_text(const curve_path& path);

/// A curve and its title.
struct curve_panel {
  std::string title;
  curve_path path;
};

/// Elements as small squares, accesses as frames, the path through their middles; jumps are dashed,
/// what overhangs the tile is red.
std::string curve_svg(const std::vector<curve_panel>& panels, const std::string& heading, svg_theme theme);

/// The first element of every access, and whether the access is inside of the tile.
std::string curve_json(const curve_path& path);

}  // namespace tilewright::viz
