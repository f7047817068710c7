// SPDX-License-Identifier: MIT
// Draws a descriptor of one or two dimensions: at which offset each element is. As text and SVG.
#include <tilewright/viz/descriptor_picture.hpp>
#include <tilewright/viz/text_table.hpp>

namespace tilewright::viz {
std::string offsets_text(const offset_grid& grid) {
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

std::string offsets_svg(const std::vector<offset_panel>& panels, const std::string& heading, svg_theme theme) {
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
