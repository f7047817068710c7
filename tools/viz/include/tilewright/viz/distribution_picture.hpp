// SPDX-License-Identifier: MIT
// Draws a distribution: which thread holds which element of a tile, in which register. As text, SVG and JSON.
#pragma once

#include <tilewright/viz/ownership.hpp>
#include <tilewright/viz/svg.hpp>

#include <string>
#include <vector>

namespace tilewright::viz {

/// What the colours of a distribution tell apart.
enum class owner_part { wave, lane, reg };

/// Neighbouring elements of a row, at most `longest`, that the same thread holds in consecutive registers.
struct owned_run {
  index_t row = 0, col = 0, length = 0;
  std::vector<owner> owners;  // of the first element
};

std::vector<owned_run> owned_runs(const ownership& who, index_t longest = 1 << 20);

/// A line for each row of the tile: wave.lane and registers of every run of elements.
std::string distribution_text(const distribution_encoding& e);

/// Rows of the tile from top to bottom; at most `most_rows` of them, the first ones.
std::string distribution_svg(const distribution_encoding& e, const std::string& heading, owner_part part,
                             svg_theme theme, index_t most_rows = 64);

/// Every run of elements with all of its owners.
std::string distribution_json(const distribution_encoding& e, const std::string& heading);

}  // namespace tilewright::viz
