// SPDX-License-Identifier: MIT
// Text from pieces, and tables of text: columns of numbers aligned right, of words left.
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tilewright::viz {

/// Concatenates text, characters and numbers. (Sums of strings make g++ 12 warn
/// about memory that they never touch.)
template <class... Pieces>
std::string concat(const Pieces&... pieces) {
  std::string result;
  const auto append = [&](const auto& piece) {
    if constexpr (std::same_as<decltype(piece), const char&>) {
      result += piece;
    } else if constexpr (requires { std::to_string(piece); }) {
      result += std::to_string(piece);
    } else {
      result += std::string_view(piece);
    }
  };
  (append(pieces), ...);
  return result;
}

class text_table {
 public:
  /// least_width: of every column but the first, in characters.
  explicit text_table(std::size_t least_width = 1) : least_width_(least_width) {}

  void add(std::vector<std::string> line) { lines_.push_back(std::move(line)); }

  std::string str() const;

 private:
  std::size_t least_width_;
  std::vector<std::vector<std::string>> lines_;
};

}  // namespace tilewright::viz
