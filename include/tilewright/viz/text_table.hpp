// SPDX-License-Identifier: MIT
// Columns of text: the first to the left, the others to the right.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace tilewright::viz {

class text_table {
 public:
  /// least_width: of every column but the first, in characters.
  explicit text_table(std::size_t least_width = 1) : least_width_(least_width) {}

  void add(std::vector<std::string> line) { lines_.push_back(std::move(line)); }

  std::string str() const {
    std::vector<std::size_t> widths;
    for (const auto& line : lines_) {
      widths.resize(std::max(widths.size(), line.size()), least_width_);
      for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
    }
    std::string text;
    for (const auto& line : lines_) {
      for (std::size_t i = 0; i < line.size(); ++i) {
        const std::string gap(widths[i] - line[i].size(), ' ');
        if (i > 0) text += ' ';
        text += i > 0 ? gap + line[i] : line.size() > 1 ? line[i] + gap : line[i];
      }
      text += '\n';
    }
    return text;
  }

 private:
  std::size_t least_width_;
  std::vector<std::vector<std::string>> lines_;
};

}  // namespace tilewright::viz
