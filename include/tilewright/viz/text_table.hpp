// SPDX-License-Identifier: MIT
// Columns of text: numbers to the right, words to the left.
#pragma once

#include <algorithm>
#include <cctype>
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

 private:
  static bool has_words(const std::string& entry) {
    return entry.find(' ') != std::string::npos ||
           std::any_of(entry.begin(), entry.end(), [](unsigned char c) { return std::isalpha(c) != 0; });
  }

  std::size_t least_width_;
  std::vector<std::vector<std::string>> lines_;
};

}  // namespace tilewright::viz
