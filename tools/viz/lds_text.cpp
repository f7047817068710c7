// SPDX-License-Identifier: MIT
// Draws one phase of an LDS instruction with letters.
#include <tilewright/viz/lds_picture.hpp>
#include <tilewright/viz/text_table.hpp>

namespace tilewright::viz {
namespace {

/// What of many rows or columns is written: all of up to `most`, else those that matter.
template <class Matters>
std::vector<std::size_t> written(std::size_t count, std::size_t most, Matters&& matters) {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < count; ++i) {
    if (count <= most || matters(i)) result.push_back(i);
  }
  return result;
}

std::string lanes_label(const std::vector<index_t>& lanes) {
  return std::to_string(lanes[0]) + (lanes.size() > 1 ? "+" : "");
}

/// A line for each cycle; the middle of a long queue is left out.
std::string queues_text(const lds_picture& picture) {
  constexpr index_t most_cycles = 8;
  const auto& columns = picture.queues.columns;
  const auto shown = written(columns.size(), 16, [&](std::size_t c) { return !columns[c].empty(); });
  text_table table(4);
  std::vector<std::string> line{"bank"};
  for (const std::size_t c : shown) line.push_back(std::to_string(index_t(c) * picture.queues.banks_per_column));
  table.add(line);
  for (index_t cycle = 0; cycle < picture.phase.degree; ++cycle) {
    if (picture.phase.degree > most_cycles && cycle == most_cycles - 1) {
      table.add({"..."});
      cycle = picture.phase.degree - 1;
    }
    line = {"cycle " + std::to_string(cycle + 1)};
    for (const std::size_t c : shown) {
      line.push_back(cycle < index_t(columns[c].size()) ? lanes_label(columns[c][std::size_t(cycle)]) : ".");
    }
    table.add(line);
  }
  return table.str();
}

std::string cell_text(const lds_cell& cell, bool memory) {
  if (!cell.lanes.empty()) {
    const std::string lanes = lanes_label(cell.lanes);
    return cell.is_in_conflict ? "!" + lanes + "!" : "(" + lanes + ")";
  }
  if (cell.bank < 0) return ".";
  return memory ? std::to_string(cell.row) + ":" + std::to_string(cell.piece) : std::to_string(cell.bank);
}

}  // namespace

std::string lds_text(const lds_picture& picture, lds_view view) {
  const lds_grid& grid = picture.grid;
  const bool memory = view == lds_view::memory;
  const std::size_t num_rows = grid.row_numbers.size(), num_cols = grid.col_numbers.size();
  const auto is_touched = [&](std::size_t r, std::size_t c) { return !grid.at(r, c).lanes.empty(); };
  const auto rows = written(num_rows, 8, [&](std::size_t r) {
    for (std::size_t c = 0; c < num_cols; ++c) {
      if (is_touched(r, c)) return true;
    }
    return false;
  });
  const auto cols = written(num_cols, 16, [&](std::size_t c) {
    for (std::size_t r = 0; r < num_rows; ++r) {
      if (is_touched(r, c)) return true;
    }
    return false;
  });

  text_table table(4);
  std::vector<std::string> line{memory ? "bank" : "piece"};
  for (const std::size_t c : cols) {
    const index_t number = grid.col_numbers[c];
    line.push_back(std::to_string(memory ? number * grid.piece_bytes / arch::lds_bank_bytes : number));
  }
  table.add(line);
  index_t last = -1;
  for (const std::size_t r : rows) {
    if (grid.row_numbers[r] != last + 1) table.add({"..."});
    last = grid.row_numbers[r];
    line = {"row " + std::to_string(last)};
    for (const std::size_t c : cols) line.push_back(cell_text(grid.at(r, c), memory));
    table.add(line);
  }
  if (last + 1 < grid.num_rows) table.add({"..."});
  return table.str() + "\n" + queues_text(picture);
}

}  // namespace tilewright::viz
