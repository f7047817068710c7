// SPDX-License-Identifier: MIT
// Draws a distribution: which thread holds which element of a tile, in which register. As text, SVG and JSON.
#include <tilewright/core/base/math.hpp>
#include <tilewright/viz/distribution_picture.hpp>
#include <tilewright/viz/text_table.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>

namespace tilewright::viz {

using json = nlohmann::ordered_json;
std::vector<owned_run> owned_runs(const ownership& who, index_t longest) {
  std::vector<owned_run> runs;
  const auto continues = [&](const owned_run& run, index_t row, index_t col) {
    const std::vector<owner>& next = who.at(row, col);
    if (run.row != row || run.length == longest || run.owners.size() != next.size()) return false;
    for (std::size_t i = 0; i < next.size(); ++i) {
      const owner& o = run.owners[i];
      if (next[i] != owner{o.wave, o.lane, o.reg + run.length}) return false;
    }
    return true;
  };
  for (index_t row = 0; row < who.rows; ++row) {
    for (index_t col = 0; col < who.cols; ++col) {
      if (!runs.empty() && continues(runs.back(), row, col)) {
        ++runs.back().length;
      } else {
        runs.push_back({row, col, 1, who.at(row, col)});
      }
    }
  }
  return runs;
}

namespace {

index_t part_of(const owner& o, owner_part part) {
  return part == owner_part::wave ? o.wave : part == owner_part::lane ? o.lane : o.reg;
}
index_t num_values(const distribution_encoding& e, owner_part part) {
  return part == owner_part::wave   ? num_waves(e)
         : part == owner_part::lane ? num_lanes(e)
                                    : e.num_elements_per_thread();
}
std::string name_of(owner_part part) {
  return part == owner_part::wave ? "wave" : part == owner_part::lane ? "lane" : "register";
}
std::string interval(index_t first, index_t count) {
  return std::to_string(first) + (count > 1 ? "-" + std::to_string(first + count - 1) : "");
}
/// The lanes of the first two owners, "+ n" for n more.
std::string label_of(const owned_run& run, bool with_wave) {
  std::string label;
  for (std::size_t i = 0; i < std::min<std::size_t>(run.owners.size(), 2); ++i) {
    const owner& o = run.owners[i];
    label += concat(i > 0 ? ", " : "", with_wave ? concat(o.wave, '.') : "", o.lane);
  }
  return run.owners.size() > 2 ? concat(label, " +", run.owners.size() - 2) : label;
}

}  // namespace

std::string distribution_text(const distribution_encoding& e) {
  const ownership who = ownership_of(e);
  text_table table;
  std::vector<std::string> line{"col"};
  index_t row = 0;
  const std::vector<owned_run> runs = owned_runs(who);
  for (const owned_run& run : runs) {
    if (run.row == 0) line.push_back(interval(run.col, run.length));
  }
  for (const owned_run& run : runs) {
    if (run.col == 0) {
      table.add(line);
      line = {"row " + std::to_string(row++)};
    }
    std::string cell;
    for (const owner& o : run.owners) {
      if (!cell.empty()) cell += ',';
      if (num_waves(e) > 1) cell += concat(o.wave, '.');
      cell += std::to_string(o.lane);
    }
    line.push_back(cell + ":" + interval(run.owners[0].reg, run.length));
  }
  table.add(line);
  return table.str();
}

std::string distribution_svg(const distribution_encoding& e, const std::string& heading, owner_part part,
                             svg_theme theme, index_t most_rows) {
  constexpr index_t margin = 16, axis = 52, head = 62, row_height = 20, swatch = 26;
  const ownership who = ownership_of(e);
  const std::vector<owned_run> runs = owned_runs(who, part == owner_part::reg ? 1 : who.cols);
  const bool with_wave = num_waves(e) > 1 && part != owner_part::wave;
  index_t shortest = who.cols;
  for (const owned_run& run : runs) shortest = min(shortest, run.length);
  const bool replicates = runs[0].owners.size() > 1;
  const index_t element_width = max(shortest >= 8   ? 12
                                    : shortest >= 4 ? 16
                                                    : 26,
                                    ceil_div<index_t>(replicates  ? 66
                                                      : with_wave ? 46
                                                                  : 0,
                                                      shortest));
  const index_t rows = min(who.rows, most_rows);
  const index_t values = num_values(e, part), groups = min(values, svg_drawing::num_colours);
  const index_t per_group = ceil_div(values, groups);

  const std::string subtitle = concat("number: ", with_wave ? "wave.lane" : "lane", " that holds the element",
                                      shortest >= 8 ? "; r: its registers" : "", "; colour: ", name_of(part));
  svg_drawing svg;
  svg.text(margin, 24, "ink bold big", heading);
  svg.text(margin, 42, "muted", subtitle);
  svg.text(margin + axis - 6, head + 12, "muted small end", "column");
  for (index_t col = 0; col < who.cols; col += shortest) {
    svg.text(margin + axis + col * element_width + shortest * element_width / 2, head + 12, "muted small mid",
             std::to_string(col));
  }
  const index_t top = head + 18;
  for (index_t row = 0; row < rows; ++row) {
    svg.text(margin + axis - 6, top + row * row_height + 14, "muted small end",
             (row == 0 ? "row " : "") + std::to_string(row));
  }
  for (const owned_run& run : runs) {
    if (run.row >= rows) continue;
    const index_t x = margin + axis + run.col * element_width, y = top + run.row * row_height,
                  w = run.length * element_width;
    svg.rect(x + 1, y + 1, w - 2, row_height - 2, colour_class(part_of(run.owners[0], part) / per_group), 2);
    const std::string label = label_of(run, with_wave);
    const bool wide = shortest >= 8;
    svg.text(wide ? x + w / 2 + 4 : x + w / 2, y + 14, wide ? "dark bold end" : "dark bold mid", label);
    if (wide) svg.text(x + w / 2 + 10, y + 14, "dark small", "r" + interval(run.owners[0].reg, run.length));
  }
  index_t y = top + rows * row_height + 6;
  if (rows < who.rows) {
    svg.text(margin + axis, y + 12, "muted", "... and " + std::to_string(who.rows - rows) + " more rows");
    y += 20;
  }
  const index_t text_width = max(7 * index_t(subtitle.size()), 9 * index_t(heading.size()));
  const index_t width = 2 * margin + max(axis + who.cols * element_width, max(text_width, 480));
  index_t x = margin;
  y += 10;
  for (index_t group = 0; group * per_group < values; ++group) {
    const std::string name = (group == 0 ? name_of(part) + " " : "") +
                             interval(group * per_group, min(per_group, values - group * per_group));
    const index_t needed = swatch + 8 + 7 * index_t(name.size()) + 12;
    if (x + needed > width - margin) {
      x = margin;
      y += 24;
    }
    svg.rect(x, y, swatch, 16, colour_class(group), 2);
    svg.text(x + swatch + 6, y + 12, "ink", name);
    x += needed;
  }
  return svg.finish(width, y + 32, heading, "Each element of the tile with the lane and the registers that hold it.",
                    theme);
}

std::string distribution_json(const distribution_encoding& e, const std::string& heading) {
  json runs = json::array();
  for (const owned_run& run : owned_runs(ownership_of(e))) {
    json owners = json::array();
    for (const owner& o : run.owners) owners.push_back({{"wave", o.wave}, {"lane", o.lane}, {"register", o.reg}});
    runs.push_back({{"row", run.row}, {"column", run.col}, {"length", run.length}, {"owners", owners}});
  }
  const json all{{"distribution", heading},
                 {"rows", e.x_length(0)},
                 {"columns", e.x_length(1)},
                 {"waves", num_waves(e)},
                 {"lanes", num_lanes(e)},
                 {"registers", e.num_elements_per_thread()},
                 {"runs", runs}};
  return all.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace tilewright::viz
