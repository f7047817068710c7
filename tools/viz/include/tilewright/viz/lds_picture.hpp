// SPDX-License-Identifier: MIT
// A picture of one phase of an LDS instruction: pieces of LDS and the queues at the banks. As text, SVG and JSON.
#pragma once

#include <tilewright/viz/lds_trace.hpp>
#include <tilewright/viz/svg.hpp>

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace tilewright::viz {

/// A layout (see graph_of) from (row, col) to an offset in elements, in bytes from the start of the tile.
/// Holds the graph by reference.
class lds_map {
 public:
  lds_map(const tensor_graph& layout, index_t element_bytes) : layout_(&layout), element_bytes_(element_bytes) {}

  index_t rows() const { return detail::hidden_length(*layout_, layout_->top[0]); }
  index_t cols() const { return detail::hidden_length(*layout_, layout_->top[1]); }
  index_t element_bytes() const { return element_bytes_; }

  index_t at(index_t row, index_t col) const {
    const index_t index[2] = {row, col};
    index_t hidden[tensor_graph::max_hidden] = {};
    detail::lower_all(*layout_, nullptr, index, hidden);
    return hidden[0] * element_bytes_;
  }

  /// Bytes of an aligned run along a row that is contiguous in LDS.
  index_t run_bytes() const { return detail::contiguous_runs(*layout_, 1 << 20)[layout_->top[1]] * element_bytes_; }

  /// One past the last byte.
  index_t size() const {
    index_t end = 0;
    for (index_t row = 0; row < rows(); ++row) {
      for (index_t col = 0; col < cols(); ++col) end = max(end, at(row, col) + element_bytes_);
    }
    return end;
  }

 private:
  const tensor_graph* layout_;
  index_t element_bytes_;
};

/// Rows of the grid are rows of the tile, or rows of banks in memory.
enum class lds_view { tile, memory };

/// One piece of LDS: as many bytes as a lane accesses, at least a bank's dword.
struct lds_cell {
  index_t bank = -1;           // the first; -1: nothing of the tile is here
  index_t row = 0, piece = 0;  // of the tile
  std::vector<index_t> lanes;  // of the phase
  bool is_in_conflict = false;
};

struct lds_grid {
  index_t piece_bytes = 16;
  std::vector<index_t> row_numbers, col_numbers;  // shown; there are gaps where the numbers leave some out
  index_t num_rows = 0, num_cols = 0;             // that there are
  std::vector<lds_cell> cells;                    // row-major

  const lds_cell& at(std::size_t row, std::size_t col) const { return cells[row * col_numbers.size() + col]; }
};

/// One column for each group of banks that do the same in this phase.
struct lds_queue_chart {
  index_t banks_per_column = 1;
  std::vector<std::vector<std::vector<index_t>>> columns;  // column, cycle, lanes served in it
};

struct lds_picture {
  lds_phase_trace phase;
  index_t banks = 32;
  lds_grid grid;
  lds_queue_chart queues;
};

/// One phase of a step; it must be one of phases_of(service, step).
lds_picture picture_of(const lds_map& map, const lds_step& step, const arch::lds_service& service,
                       const lds_phase_trace& phase, lds_view view);

/// "8 lanes meet in bank 0: 8 cycles instead of 1", or that there is no conflict.
std::string verdict_of(const lds_phase_trace& phase);

/// The grid: numbers are banks (memory: row:piece of the tile); (20) is lane 20, !20! lane 20 in a conflict, 20+
/// several lanes. If there are more than 8 rows or 16 columns, only those that the phase touches.
/// Below it the queues at the banks.
std::string lds_text(const lds_picture& picture, lds_view view);

/// One phase of one layout, and its title.
struct lds_panel {
  std::string title;
  std::string note;  // below the verdict: what the whole access costs
  lds_picture picture;
  lds_view view = lds_view::tile;
};

/// The panels next to each other under one heading. The legend explains the signs that occur.
std::string lds_svg(const std::vector<lds_panel>& panels, const std::string& heading, svg_theme theme);

/// An access and its worst instruction, phase by phase, as an object: what it costs, and the numbers that show why.
nlohmann::ordered_json analysis_json(const arch::target& target, const lds_access_analysis& total,
                                     const lds_access_pattern& pattern, lds_access_kind kind,
                                     lds_reading reading = lds_reading::worst);

}  // namespace tilewright::viz
