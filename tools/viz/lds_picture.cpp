// SPDX-License-Identifier: MIT
// What a picture of one phase shows, before it becomes text or SVG: a grid of pieces of LDS,
// and the queues at the banks.
#include <tilewright/viz/lds_picture.hpp>

#include <algorithm>

namespace tilewright::viz {
namespace {

/// The numbers to show: the smallest aligned block of a power of two that holds all that is touched, at least `least`;
/// if that is more than `most`, only what is touched.
std::vector<index_t> shown_numbers(std::vector<index_t> touched, index_t count, index_t least, index_t most) {
  std::sort(touched.begin(), touched.end());
  touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
  if (touched.empty()) touched.push_back(0);
  index_t block = least;
  while (touched.front() / block != touched.back() / block) block *= 2;
  if (min(block, count) > most) return touched;
  std::vector<index_t> shown;
  const index_t first = touched.front() / block * block;
  for (index_t i = first; i < min(first + block, count); ++i) shown.push_back(i);
  return shown;
}

index_t place_of(const std::vector<index_t>& numbers, index_t number) {
  const auto found = std::lower_bound(numbers.begin(), numbers.end(), number);
  return found == numbers.end() || *found != number ? -1 : index_t(found - numbers.begin());
}

}  // namespace

lds_picture picture_of(const lds_map& map, const lds_step& step, const arch::lds_service& service,
                       const lds_phase_trace& phase, lds_view view) {
  constexpr index_t least_rows = 8, most_rows = 64, most_cols = 64;
  lds_picture picture{phase, service.banks, {}, {}};
  lds_grid& grid = picture.grid;
  const index_t bytes = arch::access_bytes(step.op);
  // A piece is as long as an access where accesses are aligned and the tile's rows are whole pieces; else a dword.
  const index_t cols = map.cols(), element_bytes = map.element_bytes();
  const bool whole = bytes >= 4 && bytes != 12 && cols * element_bytes % bytes == 0 && map.run_bytes() % bytes == 0;
  grid.piece_bytes = whole ? bytes : 4;
  const index_t piece_elements = max(1, grid.piece_bytes / element_bytes);
  const index_t bank_row_bytes = service.banks * arch::lds_bank_bytes;
  const bool memory = view == lds_view::memory;
  grid.num_rows = memory ? ceil_div(map.size(), bank_row_bytes) : map.rows();
  grid.num_cols = memory ? bank_row_bytes / grid.piece_bytes : ceil_div(cols, piece_elements);

  const auto place = [&](index_t row, index_t col) {
    const index_t address = map.at(row, col);
    return memory ? array<index_t, 2>{{address / bank_row_bytes, address % bank_row_bytes / grid.piece_bytes}}
                  : array<index_t, 2>{{row, col / piece_elements}};
  };
  std::vector<index_t> touched_rows, touched_cols;
  for (const index_t lane : phase.lanes) {
    if (step.address[lane] < 0) continue;
    const auto at = place(step.element[lane][0], step.element[lane][1]);
    touched_rows.push_back(at[0]);
    touched_cols.push_back(at[1]);
  }
  grid.row_numbers = shown_numbers(touched_rows, grid.num_rows, least_rows, most_rows);
  grid.col_numbers = shown_numbers(touched_cols, grid.num_cols, most_cols, most_cols);
  grid.cells.resize(grid.row_numbers.size() * grid.col_numbers.size());
  const auto cell_at = [&](index_t row, index_t col) -> lds_cell* {
    const auto at = place(row, col);
    const index_t r = place_of(grid.row_numbers, at[0]), c = place_of(grid.col_numbers, at[1]);
    return r < 0 || c < 0 ? nullptr : &grid.cells[std::size_t(r) * grid.col_numbers.size() + std::size_t(c)];
  };
  for (index_t row = 0; row < map.rows(); ++row) {
    for (index_t col = 0; col < cols; col += piece_elements) {
      lds_cell* cell = cell_at(row, col);
      if (cell == nullptr) continue;
      cell->bank = map.at(row, col) / arch::lds_bank_bytes % service.banks;
      cell->row = row;
      cell->piece = col / piece_elements;
    }
  }
  for (const index_t lane : phase.lanes) {
    if (step.address[lane] < 0) continue;
    for (index_t byte = 0; byte < bytes; byte += grid.piece_bytes) {
      const index_t col = step.element[lane][1] + byte / element_bytes;
      lds_cell* cell = cell_at(step.element[lane][0], col);
      if (cell == nullptr) continue;
      if (cell->lanes.empty() || cell->lanes.back() != lane) cell->lanes.push_back(lane);
      cell->is_in_conflict = cell->is_in_conflict || phase.is_in_conflict(lane);
    }
  }

  bool aligned = bytes > 4 && bytes != 12;
  for (const index_t lane : phase.lanes) {
    aligned = aligned && (step.address[lane] < 0 || step.address[lane] % bytes == 0);
  }
  picture.queues.banks_per_column = aligned ? bytes / 4 : 1;
  for (index_t bank = 0; bank < service.banks; bank += picture.queues.banks_per_column) {
    auto& column = picture.queues.columns.emplace_back();
    for (const lds_bank_visit& visit : phase.banks[std::size_t(bank)]) column.push_back(visit.lanes);
  }
  return picture;
}

std::string verdict_of(const lds_phase_trace& phase) {
  if (phase.degree == 0) return "no lane takes part";
  if (phase.degree == 1) return "no conflict: 1 cycle";
  std::size_t bank = 0;
  while (index_t(phase.banks[bank].size()) != phase.degree) ++bank;
  std::vector<index_t> lanes;
  for (const lds_bank_visit& visit : phase.banks[bank]) {
    lanes.insert(lanes.end(), visit.lanes.begin(), visit.lanes.end());
  }
  return std::to_string(lanes.size()) + " lanes meet in bank " + std::to_string(bank) + ": " +
         std::to_string(phase.degree) + " cycles instead of 1";
}

}  // namespace tilewright::viz
