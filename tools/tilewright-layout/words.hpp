// SPDX-License-Identifier: MIT
// Takes the command line's small words apart: "swizzle:3,4,3", "128x64", "16B".
#pragma once

#include "refusal.hpp"

#include <tilewright/core/base/index.hpp>

#include <charconv>
#include <string>
#include <vector>

namespace tilewright_layout {

using tilewright::index_t;

/// A whole number from `least` to `most`; else a refusal that says what was asked for.
inline index_t number_of(const std::string& text, const std::string& what, index_t least, index_t most = 1 << 20) {
  index_t value = 0;
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  if (result.ec != std::errc() || result.ptr != end || value < least || value > most) {
    throw refusal(what + " must be a whole number from " + std::to_string(least) + " to " + std::to_string(most) +
                  ", not '" + text + "'");
  }
  return value;
}

inline std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

/// "128x64": `count` numbers, each at least 1.
inline std::vector<index_t> lengths_of(const std::string& text, const std::string& what, std::size_t count) {
  std::vector<index_t> lengths;
  const std::vector<std::string> parts = split(text, 'x');
  if (parts.size() != count) {
    throw refusal(what + " must be " + std::to_string(count) + " numbers with x between them, not '" + text + "'");
  }
  for (const std::string& part : parts) lengths.push_back(number_of(part, "a length in " + what, 1, 1 << 12));
  return lengths;
}

inline std::string joined(const std::vector<std::string>& parts, const std::string& between) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : between) + part;
  return text;
}

}  // namespace tilewright_layout
