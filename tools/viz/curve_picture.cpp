// SPDX-License-Identifier: MIT
// Draws a curve of two dimensions: the order in which a tile is traversed. As text, SVG and JSON.
#include <tilewright/viz/curve_picture.hpp>
#include <tilewright/viz/text_table.hpp>

#include <nlohmann/json.hpp>

namespace tilewright::viz {

using json = nlohmann::ordered_json;

std::string curve_text(const curve_path& path) {
  const auto rows = std::size_t(path.lengths[0]), cols = std::size_t(path.lengths[1]);
  std::vector<std::vector<std::string>> lines(rows, std::vector<std::string>(cols));
  for (std::size_t i = 0; i < path.first.size(); ++i) {
    const multi_index<2>& first = path.first[i];
    for (index_t r = first[0]; r < min(first[0] + path.scalars[0], path.lengths[0]); ++r) {
      for (index_t c = first[1]; c < min(first[1] + path.scalars[1], path.lengths[1]); ++c) {
        lines[std::size_t(r)][std::size_t(c)] = std::to_string(i);
      }
    }
  }
  text_table table(std::to_string(path.first.size() - 1).size());
  for (std::size_t r = 0; r < rows; ++r) {
    std::vector<std::string> line{concat("row ", r)};
    line.insert(line.end(), lines[r].begin(), lines[r].end());
    table.add(line);
  }
  return table.str();
}

std::string curve_svg(const std::vector<curve_panel>& panels, const std::string& heading, svg_theme theme) {
  constexpr index_t margin = 16, gutter = 36, element = 30, top = 70;
  index_t width = margin, height = 0;
  bool overhangs = false, jumps = false;
  svg_drawing svg;
  svg.text(margin, 26, "ink bold big", heading);
  for (const curve_panel& panel : panels) {
    const curve_path& path = panel.path;
    const multi_index<2>& scalars = path.scalars;
    const index_t x = width;
    index_t extent[2];
    for (index_t d = 0; d < 2; ++d) extent[d] = path.access_length(d) * scalars[d];
    svg.text(x, top - 14, "ink bold", panel.title);
    for (index_t r = 0; r < extent[0]; ++r) {
      for (index_t c = 0; c < extent[1]; ++c) {
        const bool inside = r < path.lengths[0] && c < path.lengths[1];
        svg.rect(x + c * element + 1, top + r * element + 1, element - 2, element - 2, inside ? "c5 pale" : "empty", 2);
      }
    }
    const auto middle = [&](std::size_t i) {
      const multi_index<2>& at = path.first[i];
      return array<index_t, 2>{
          {x + at[1] * element + scalars[1] * element / 2, top + at[0] * element + scalars[0] * element / 2}};
    };
    const std::size_t count = path.first.size();
    for (std::size_t i = 0; i < count; ++i) {
      const multi_index<2>& at = path.first[i];
      const bool inside = path.is_in_bounds(i);
      overhangs = overhangs || !inside;
      if (scalars[0] * scalars[1] == 1 && inside) continue;
      svg.rect(x + at[1] * element + 3, top + at[0] * element + 3, scalars[1] * element - 6, scalars[0] * element - 6,
               inside ? "thin" : "clash", 4);
    }
    for (std::size_t i = 0; i + 1 < count; ++i) {
      const auto from = middle(i), to = middle(i + 1);
      index_t moved = 0;  // accesses, along both dimensions together
      for (index_t d = 0; d < 2; ++d) {
        const index_t step = path.first[i + 1][d] - path.first[i][d];
        moved += (step < 0 ? -step : step) / scalars[d];
      }
      jumps = jumps || moved > 1;
      svg.line(from[0], from[1], to[0], to[1], moved > 1 ? "jump" : "way");
    }
    for (std::size_t i = 0; i < count; ++i) {
      const auto at = middle(i);
      const bool end = i == 0 || i == count - 1;
      svg.circle(at[0], at[1], 10, end ? "good-fill" : "dot");
      svg.text(at[0], at[1] + 4, end ? "on-fill bold small mid" : "ink small mid", std::to_string(i));
    }
    width += max(extent[1] * element, 8 * index_t(panel.title.size())) + gutter;
    height = max(height, extent[0] * element);
  }
  const std::string note = concat(jumps ? "dashed: a jump" : "", jumps && overhangs ? "; " : "",
                                  overhangs ? "red: the access overhangs the tile" : "");
  if (!note.empty()) svg.text(margin, top + height + 24, "muted", note);
  return svg.finish(max(width - gutter + margin, 360), top + height + (note.empty() ? 20 : 38), heading,
                    "The order in which the elements of a tile are accessed.", theme);
}

std::string curve_json(const curve_path& path) {
  json accesses = json::array();
  for (std::size_t i = 0; i < path.first.size(); ++i) {
    accesses.push_back({{"first", {path.first[i][0], path.first[i][1]}}, {"in_bounds", path.is_in_bounds(i)}});
  }
  const json all{{"lengths", {path.lengths[0], path.lengths[1]}},
                 {"elements_per_access", {path.scalars[0], path.scalars[1]}},
                 {"accesses", accesses}};
  return all.dump(2) + "\n";
}

}  // namespace tilewright::viz
