// SPDX-License-Identifier: MIT
// Text from pieces.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace tilewright::viz {

/// Appends text, characters and numbers one after the other. (Sums of strings make g++ 12 warn
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

}  // namespace tilewright::viz
