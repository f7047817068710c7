// SPDX-License-Identifier: MIT
// Widths and alignment of columns.
#include <tilewright/viz/text_table.hpp>

#include <algorithm>
#include <cctype>

namespace tilewright::viz {

namespace {

bool has_words(const std::string& entry) {
  return entry.find(' ') != std::string::npos ||
         std::any_of(entry.begin(), entry.end(), [](unsigned char c) { return std::isalpha(c) != 0; });
}

}  // namespace

std::string text_table::str() const {
  std::vector<std::size_t> widths;
  std::vector<bool> words;  // not all entries below the first line are numbers
  for (const auto& line : lines_) {
    widths.resize(std::max(widths.size(), line.size()), least_width_);
    words.resize(widths.size());
    for (std::size_t i = 0; i < line.size(); ++i) {
      widths[i] = std::max(widths[i], line[i].size());
      if (&line != &lines_[0]) words[i] = words[i] || i == 0 || has_words(line[i]);
    }
  }
  std::string text;
  for (const auto& line : lines_) {
    std::string written;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const std::string gap(widths[i] - line[i].size(), ' ');
      if (i > 0) written += words[i] ? "  " : " ";
      written += words[i] ? line[i] + gap : gap + line[i];
    }
    text += written.substr(0, written.find_last_not_of(' ') + 1) + '\n';
  }
  return text;
}

}  // namespace tilewright::viz
