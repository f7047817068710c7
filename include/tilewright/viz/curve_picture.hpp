// SPDX-License-Identifier: MIT
// Draws a curve of two dimensions: the order in which a tile is walked. As text, SVG and JSON.
#pragma once

#include <tilewright/distribution/space_filling_curve.hpp>
#include <tilewright/viz/json.hpp>
#include <tilewright/viz/svg.hpp>
#include <tilewright/viz/text_table.hpp>

namespace tilewright::viz {

/// For each element of the tile the number of the access that covers it.
inline std::string curve_text(const curve<2>& walk) {
  std::vector<std::vector<std::string>> lines(std::size_t(walk.lengths[0]),
                                              std::vector<std::string>(std::size_t(walk.lengths[1])));
  for (index_t i = 0; i < walk.get_num_of_access(); ++i) {
    const multi_index<2> first = walk.get_index(i);
    for (index_t r = first[0]; r < min(first[0] + walk.scalars_per_access[0], walk.lengths[0]); ++r) {
      for (index_t c = first[1]; c < min(first[1] + walk.scalars_per_access[1], walk.lengths[1]); ++c) {
        lines[std::size_t(r)][std::size_t(c)] = std::to_string(i);
      }
    }
  }
  text_table table(std::to_string(walk.get_num_of_access() - 1).size());
  for (std::size_t r = 0; r < lines.size(); ++r) {
    std::vector<std::string> line{"row " + std::to_string(r)};
    line.insert(line.end(), lines[r].begin(), lines[r].end());
    table.add(line);
  }
  return table.str();
}

/// A curve and what stands above it.
struct curve_panel {
  std::string title;
  curve<2> walk;
};

/// Elements as small squares, accesses as frames, the path through their middles; jumps are dashed, what overhangs the tile is red.
inline std::string curve_svg(const std::vector<curve_panel>& panels, const std::string& heading, svg_theme theme) {
  constexpr index_t margin = 16, gutter = 36, element = 30, top = 70;
  index_t width = margin, height = 0;
  bool overhangs = false, jumps = false;
  svg_drawing svg;
  svg.text(margin, 26, "ink bold big", heading);
  for (const curve_panel& panel : panels) {
    const curve<2>& walk = panel.walk;
    const index_t x = width;
    index_t extent[2];
    for (index_t d = 0; d < 2; ++d) extent[d] = walk.access_length(d) * walk.scalars_per_access[d];
    svg.text(x, top - 14, "ink bold", panel.title);
    for (index_t r = 0; r < extent[0]; ++r) {
      for (index_t c = 0; c < extent[1]; ++c) {
        const bool inside = r < walk.lengths[0] && c < walk.lengths[1];
        svg.rect(x + c * element + 1, top + r * element + 1, element - 2, element - 2, inside ? "c5 pale" : "empty", 2);
      }
    }
    const auto middle = [&](index_t i) {
      const multi_index<2> at = walk.get_index(i);
      return array<index_t, 2>{{x + at[1] * element + walk.scalars_per_access[1] * element / 2,
                                top + at[0] * element + walk.scalars_per_access[0] * element / 2}};
    };
    const index_t count = walk.get_num_of_access();
    for (index_t i = 0; i < count; ++i) {
      const multi_index<2> at = walk.get_index(i);
      const bool inside = walk.is_in_bounds(i);
      overhangs = overhangs || !inside;
      if (walk.scalars_per_access[0] * walk.scalars_per_access[1] == 1 && inside) continue;
      svg.rect(x + at[1] * element + 3, top + at[0] * element + 3, walk.scalars_per_access[1] * element - 6,
               walk.scalars_per_access[0] * element - 6, inside ? "thin" : "clash", 4);
    }
    for (index_t i = 0; i + 1 < count; ++i) {
      const auto from = middle(i), to = middle(i + 1);
      const multi_index<2> step = walk.get_forward_step(i);
      index_t moved = 0;
      for (index_t d = 0; d < 2; ++d) moved += (step[d] < 0 ? -step[d] : step[d]) / walk.scalars_per_access[d];
      jumps = jumps || moved > 1;
      svg.line(from[0], from[1], to[0], to[1], moved > 1 ? "jump" : "way");
    }
    for (index_t i = 0; i < count; ++i) {
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

/// The first element of every access, and whether the access lies inside of the tile.
inline std::string curve_json(const curve<2>& walk) {
  json_writer json;
  json.begin_object();
  json.numbers("lengths", walk.lengths);
  json.numbers("order", walk.order);
  json.numbers("scalars_per_access", walk.scalars_per_access);
  json.value("snake", walk.snake);
  json.begin_array("accesses");
  for (index_t i = 0; i < walk.get_num_of_access(); ++i) {
    json.begin_object();
    json.numbers("first", walk.get_index(i));
    json.value("in_bounds", walk.is_in_bounds(i));
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.str();
}

}  // namespace tilewright::viz
