// SPDX-License-Identifier: MIT
// Draws a descriptor of one or two dimensions: at which offset each element lies. As text and SVG.
#pragma once

#include <tilewright/descriptor/tensor_descriptor.hpp>
#include <tilewright/viz/svg.hpp>
#include <tilewright/viz/text_table.hpp>

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

inline std::string offsets_text(const offset_grid& grid) {
  text_table table(std::to_string(grid.space - 1).size());
  for (index_t row = 0; row < grid.rows; ++row) {
    std::vector<std::string> line{concat("row ", row)};
    for (index_t col = 0; col < grid.cols; ++col) {
      line.push_back(grid.at(row, col) < 0 ? "." : std::to_string(grid.at(row, col)));
    }
    table.add(line);
  }
  return table.str();
}

/// A grid and what stands above it. `run` neighbours in memory have one colour; after `period` runs the colours repeat.
struct offset_panel {
  std::string title;
  offset_grid grid;
  index_t run = 1, period = svg_drawing::num_colours;
};

/// Grids side by side: one box for each element, with its offset; grey where there is none.
inline std::string offsets_svg(const std::vector<offset_panel>& panels, const std::string& heading, svg_theme theme) {
  constexpr index_t margin = 16, gutter = 40, axis = 30, cell = 30, height_of_cell = 24, top = 84;
  index_t height = 0, x = margin;
  svg_drawing svg;
  svg.text(margin, 26, "ink bold big", heading);
  for (const offset_panel& panel : panels) {
    const offset_grid& grid = panel.grid;
    svg.text(x, top - 28, "ink bold", panel.title);
    for (index_t col = 0; col < grid.cols; ++col) {
      svg.text(x + axis + col * cell + cell / 2, top - 6, "muted small mid", std::to_string(col));
    }
    for (index_t row = 0; row < grid.rows; ++row) {
      const index_t y = top + row * height_of_cell;
      if (grid.rows > 1) svg.text(x + axis - 6, y + 16, "muted small end", std::to_string(row));
      for (index_t col = 0; col < grid.cols; ++col) {
        const index_t offset = grid.at(row, col), left = x + axis + col * cell;
        svg.rect(left + 1, y + 1, cell - 2, height_of_cell - 2,
                 offset < 0 ? "empty" : colour_class(offset / panel.run % panel.period), 2);
        if (offset >= 0) svg.text(left + cell / 2, y + 16, "dark mid", std::to_string(offset));
      }
    }
    x += max(axis + grid.cols * cell, 8 * index_t(panel.title.size())) + gutter;
    height = max(height, grid.rows * height_of_cell);
  }
  const index_t width = max(x - gutter + margin, 2 * margin + 9 * index_t(heading.size()));
  return svg.finish(width, top + height + margin, heading, "Each element of the tensor with its offset in memory.",
                    theme);
}

}  // namespace tilewright::viz
