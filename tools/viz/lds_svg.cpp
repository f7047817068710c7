// SPDX-License-Identifier: MIT
// Draws phases of LDS instructions, next to each other: pieces of LDS coloured by bank, and the queues at the banks.
#include <tilewright/viz/lds_picture.hpp>

namespace tilewright::viz {
namespace {

/// Draws panels at given places; lengths in pixels.
class lds_panel_painter {
 public:
  explicit lds_panel_painter(svg_drawing& svg) : svg_(svg) {}

  static constexpr index_t cell_height = 20, axis_width = 52, head_height = 84, gap_height = 10;

  static index_t cell_width(index_t bytes) { return bytes >= 16 ? 46 : bytes == 8 ? 30 : 20; }
  static index_t grid_width(const lds_grid& grid) {
    return index_t(grid.col_numbers.size()) * cell_width(grid.piece_bytes);
  }
  static index_t grid_height(const lds_grid& grid) {
    index_t gaps = 0;
    for (std::size_t r = 1; r < grid.row_numbers.size(); ++r) gaps += is_gap(grid, r);
    return index_t(grid.row_numbers.size()) * cell_height + gaps * gap_height;
  }
  /// Columns of the chart are as wide as the grid's pieces, or narrower, so that the chart is not wider than the grid.
  static index_t column_width(const lds_picture& picture) {
    const index_t columns = index_t(picture.queues.columns.size());
    return max(20, min(cell_width(picture.queues.banks_per_column * 4), grid_width(picture.grid) / columns));
  }
  static index_t chart_width(const lds_picture& picture) {
    return index_t(picture.queues.columns.size()) * column_width(picture);
  }

  /// Lines of a chart: all cycles of a short queue; of a long one the first, and the last below a gap.
  static constexpr index_t most_lines = 9;
  static index_t chart_lines(index_t cycles) { return min(max(cycles, 1), most_lines); }
  static index_t cycle_of_line(index_t line, index_t cycles) {
    return cycles > most_lines && line == most_lines - 1 ? cycles - 1 : line;
  }
  static bool is_gap_line(index_t line, index_t cycles) { return cycles > most_lines && line == most_lines - 2; }
  static index_t width(const lds_picture& picture) {
    return axis_width + max(max(grid_width(picture.grid), chart_width(picture)), 300);
  }

  /// Title, verdict and grid, from y on.
  void paint_grid(index_t x, index_t y, const lds_panel& panel) {
    const lds_grid& grid = panel.picture.grid;
    const bool memory = panel.view == lds_view::memory;
    const bool clash = panel.picture.phase.degree > 1;
    svg_.text(x + axis_width, y + 14, "ink bold big", panel.title);
    svg_.rect(x + axis_width, y + 22, 10, 14, clash ? "clash-fill" : "good-fill", 2);
    svg_.text(x + axis_width + 16, y + 34, clash ? "clash-text bold" : "good-text bold",
              verdict_of(panel.picture.phase));
    svg_.text(x + axis_width, y + 52, "muted", panel.note);
    const index_t w = cell_width(grid.piece_bytes);
    svg_.text(x + axis_width - 6, y + head_height - 8, "muted small end", memory ? "bank" : "piece");
    for (std::size_t c = 0; c < grid.col_numbers.size(); ++c) {
      const index_t number = grid.col_numbers[c] * grid.piece_bytes / (memory ? arch::lds_bank_bytes : 1);
      svg_.text(x + axis_width + index_t(c) * w + w / 2, y + head_height - 8, "muted small mid",
                std::to_string(memory ? number : grid.col_numbers[c]));
    }
    index_t top = y + head_height;
    for (std::size_t r = 0; r < grid.row_numbers.size(); ++r, top += cell_height) {
      if (r > 0 && is_gap(grid, r)) {
        svg_.text(x + axis_width + grid_width(grid) / 2, top + gap_height - 3, "muted mid", "...");
        top += gap_height;
      }
      svg_.text(x + axis_width - 6, top + 14, "muted small end", concat(r == 0 ? "row " : "", grid.row_numbers[r]));
      for (std::size_t c = 0; c < grid.col_numbers.size(); ++c) {
        paint_cell(x + axis_width + index_t(c) * w, top, w, grid.at(r, c), memory);
      }
    }
  }

  /// The queues at the banks. Charts in one picture have the same number of lines.
  void paint_queues(index_t x, index_t y, const lds_picture& picture, index_t lines) {
    const lds_queue_chart& queues = picture.queues;
    const index_t w = column_width(picture), cycles = picture.phase.degree;
    svg_.text(
        x + axis_width, y + 12, "ink bold",
        concat("Phase ", picture.phase.phase, " (lanes ", lanes_text(picture.phase.lanes), "): what the banks do"));
    y += 24;
    for (index_t line = 0; line < chart_lines(cycles); ++line) {
      const index_t top = y + line * cell_height, cycle = cycle_of_line(line, cycles);
      if (is_gap_line(line, cycles)) {
        svg_.text(x + axis_width - 6, top + 14, "clash-text bold small end", "...");
        continue;
      }
      svg_.text(x + axis_width - 6, top + 14, cycle > 0 ? "clash-text bold small end" : "muted small end",
                concat("cycle ", cycle + 1));
      for (std::size_t c = 0; c < queues.columns.size(); ++c) {
        const index_t left = x + axis_width + index_t(c) * w, bank = index_t(c) * queues.banks_per_column;
        const auto& queue = queues.columns[c];
        if (cycle >= index_t(queue.size())) {
          if (cycle == 0) svg_.rect(left + 1, top + 1, w - 2, cell_height - 2, "empty", 2);
          continue;
        }
        svg_.rect(left + 1, top + 1, w - 2, cell_height - 2, colour_class(bank / 4), 2);
        if (queue.size() > 1) svg_.rect(left + 2, top + 2, w - 4, cell_height - 4, "clash", 2);
        paint_lanes(left + w / 2, top, w, queue[std::size_t(cycle)], queue.size() > 1);
      }
    }
    const index_t base = y + lines * cell_height + 12;
    svg_.text(x + axis_width - 6, base, "muted small end", "bank");
    for (std::size_t c = 0; c < queues.columns.size(); ++c) {
      svg_.text(x + axis_width + index_t(c) * w + w / 2, base, "muted small mid",
                std::to_string(index_t(c) * queues.banks_per_column));
    }
  }

 private:
  static bool is_gap(const lds_grid& grid, std::size_t r) { return grid.row_numbers[r] != grid.row_numbers[r - 1] + 1; }

  /// Lanes in conflict are white on red.
  void paint_lanes(index_t x, index_t top, index_t width, const std::vector<index_t>& lanes, bool waits) {
    const std::string more = lanes.size() > 1 ? width >= 40 ? " +" + std::to_string(lanes.size() - 1) : "+" : "";
    const std::string label = std::to_string(lanes[0]) + more;
    const index_t label_width = min(width - 4, 8 * index_t(label.size()) + 6);
    if (waits) svg_.rect(x - label_width / 2, top + 3, label_width, cell_height - 6, "clash-fill", 3);
    svg_.text(x, top + 14, (waits ? "on-fill" : "dark") + std::string(width < 26 ? " bold small mid" : " bold mid"),
              label);
  }

  void paint_cell(index_t x, index_t y, index_t width, const lds_cell& cell, bool memory) {
    if (cell.bank < 0) {
      svg_.rect(x + 1, y + 1, width - 2, cell_height - 2, "empty", 2);
      return;
    }
    const std::string colour = colour_class(cell.bank / 4);
    if (cell.lanes.empty()) {
      svg_.rect(x + 1, y + 1, width - 2, cell_height - 2, colour + " pale", 2);
      const std::string label =
          memory ? std::to_string(cell.row) + ":" + std::to_string(cell.piece) : std::to_string(cell.bank);
      svg_.text(x + width / 2, y + 14, "muted small mid", label);
      return;
    }
    svg_.rect(x + 1, y + 1, width - 2, cell_height - 2, colour, 2);
    svg_.rect(x + 2, y + 2, width - 4, cell_height - 4, cell.is_in_conflict ? "clash" : "frame", 2);
    paint_lanes(x + width / 2, y, width, cell.lanes, cell.is_in_conflict);
  }

  svg_drawing& svg_;
};

}  // namespace

std::string lds_svg(const std::vector<lds_panel>& panels, const std::string& heading, svg_theme theme) {
  using painter = lds_panel_painter;
  constexpr index_t margin = 16, gutter = 28, heading_height = 60;
  index_t width = margin, grid_height = 0, lines = 1, cycles = 1;
  for (const lds_panel& panel : panels) {
    width += painter::width(panel.picture) + gutter;
    grid_height = max(grid_height, painter::grid_height(panel.picture.grid));
    cycles = max(cycles, panel.picture.phase.degree);
    lines = max(lines, painter::chart_lines(panel.picture.phase.degree));
  }
  const bool memory = panels.front().view == lds_view::memory;
  const index_t piece = panels.front().picture.grid.piece_bytes;
  const std::string explanation =
      memory ? concat("Each line is what one row of banks holds, one box for ", piece,
                      " bytes with their row:piece of the tile. A column shares its banks.")
             : concat("Each box is ", piece,
                      " bytes of the tile; its colour and number are the first bank that it lies in.");
  width = max(width - gutter + margin, max(700, 8 * index_t(max(explanation.size(), heading.size())) + 2 * margin));
  const index_t chart_top = heading_height + painter::head_height + grid_height + 24;
  const index_t legend_top = chart_top + 24 + lines * painter::cell_height + 30;

  svg_drawing svg;
  painter paint(svg);
  svg.text(margin, 26, "ink bold big", heading);
  svg.text(margin, 46, "muted", explanation);
  index_t x = margin;
  std::string description;
  for (const lds_panel& panel : panels) {
    paint.paint_grid(x, heading_height, panel);
    paint.paint_queues(x, chart_top, panel.picture, lines);
    x += painter::width(panel.picture) + gutter;
    description += concat(panel.title, ": ", verdict_of(panel.picture.phase), ". ");
  }

  index_t left = margin;
  const auto entry = [&](std::string_view over, std::string_view text) {
    svg.rect(left, legend_top, 26, 18, "c0", 2);
    svg.rect(left + 1, legend_top + 1, 24, 16, over, 2);
    if (over == "clash") svg.rect(left + 6, legend_top + 3, 14, 12, "clash-fill", 3);
    svg.text(left + 13, legend_top + 13, over == "clash" ? "on-fill bold mid" : "dark bold mid", "7");
    svg.text(left + 33, legend_top + 13, "ink", text);
    left += 33 + 7 * index_t(text.size()) + 20;
  };
  entry("frame", "what lane 7 accesses in this phase");
  if (cycles > 1) entry("clash", "it has to wait for other lanes, or they for it");
  return svg.finish(width, legend_top + 34, heading, description, theme);
}

}  // namespace tilewright::viz
