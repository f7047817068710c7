// SPDX-License-Identifier: MIT
// Draws a descriptor of one or two dimensions: at which offset each element is. As text and SVG.
#pragma once

#include <tilewright/core/descriptor/tensor_descriptor.hpp>
#include <tilewright/viz/svg.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace tilewright::viz {

/// Offsets of all elements, row after row; a descriptor of one dimension is one row. -1: there is no element (a pad).
struct offset_grid {
  index_t rows = 1, cols = 1;
  std::vector<index_t> offsets;
  index_t space = 1;  // offsets are smaller

  index_t at(index_t row, index_t col) const {
    return offsets[std::size_t(row) * std::size_t(cols) + std::size_t(col)];
  }
};

template <tensor_graph Graph>
offset_grid offsets_of(const tensor_descriptor<Graph>& descriptor) {
  constexpr index_t n = Graph.ndim();
  static_assert(n == 1 || n == 2, "viz::offsets_of: only descriptors of one or two dimensions are drawn");
  const multi_index<n> lengths = descriptor.get_lengths();
  offset_grid grid{n == 1 ? 1 : lengths[0], lengths[n - 1], {}, index_t(descriptor.get_element_space_size())};
  for (index_t row = 0; row < grid.rows; ++row) {
    for (index_t col = 0; col < grid.cols; ++col) {
      multi_index<n> index{};
      index[0] = row;
      index[n - 1] = col;
      grid.offsets.push_back(descriptor.is_valid(index) ? descriptor.calculate_offset(index) : -1);
    }
  }
  return grid;
}

std::string offsets_text(const offset_grid& grid);

/// A grid and its title. `run` neighbours in memory have one colour; after `period` runs the colours repeat.
struct offset_panel {
  std::string title;
  offset_grid grid;
  index_t run = 1, period = svg_drawing::num_colours;
};

/// Grids next to each other: one box for each element, with its offset; grey where there is none.
std::string offsets_svg(const std::vector<offset_panel>& panels, const std::string& heading, svg_theme theme);

}  // namespace tilewright::viz
