// SPDX-License-Identifier: MIT
// Text for terminals: escapes and line breaks.
#include "text.hpp"

namespace program {

std::size_t length_of_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7f;
  const std::size_t length = first >= 0xf0 && first < 0xf5   ? 4
                             : first >= 0xe0 && first < 0xf0 ? 3
                             : first >= 0xc2 && first < 0xe0 ? 2
                                                             : 0;
  if (length == 0 || text.size() < length) return 0;
  unsigned code = first & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3f);
  }
  const unsigned least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_control = code < 0xa0 || code == 0x2028 || code == 0x2029 || (code & 0xfffe) == 0xfffe;
  const bool is_surrogate = code >= 0xd800 && code < 0xe000;
  return code < least[length] || code > 0x10ffff || is_control || is_surrogate ? 0 : length;
}

std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = length_of_character(text);
    if (length == 0) {
      constexpr const char* digits = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(text[0]);
      result += "\\x";
      result += digits[byte >> 4];
      result += digits[byte & 15];
    } else {
      result += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return result;
}

std::string wrapped(std::string_view text, std::size_t columns, std::size_t indent) {
  std::string result;
  std::size_t width = columns;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::size_t length = end == text.npos ? text.size() : end;
    const bool is_too_long = length > width;
    if (is_too_long) {
      const std::size_t space = text.rfind(' ', width);
      length = space == text.npos || space == 0 ? text.find_first_of(" \n") : space;
      if (length == text.npos) length = text.size();
    }
    result += text.substr(0, length);
    const bool breaks_here = is_too_long && length < text.size() && text[length] == ' ';
    if (length < text.size()) result += '\n';
    if (breaks_here) result += std::string(indent, ' ');
    width = breaks_here ? columns - indent : columns;
    text.remove_prefix(length < text.size() ? length + 1 : length);
  }
  return result;
}

}  // namespace program
