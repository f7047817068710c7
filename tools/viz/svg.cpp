// SPDX-License-Identifier: MIT
// Style sheet and frame of a picture.
#include <tilewright/viz/svg.hpp>

namespace tilewright::viz {

namespace {

/// Eight hues that people with any colour vision can tell apart, after Paul Tol's light scheme,
/// and a darker tone of each.
std::string style(svg_theme theme) {
  static constexpr const char* fills[svg_drawing::num_colours] = {
      "#77aadd", "#ee8866", "#eedd88", "#44bb99", "#ffaabb", "#99ddff", "#bbcc33", "#cabbe0",
      "#4f86bf", "#c9663f", "#c9b356", "#2f9478", "#dd7f95", "#66b5dd", "#96a61f", "#a48fc4"};
  static constexpr const char* common =
      "text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif}\n"
      ".mid{text-anchor:middle}.end{text-anchor:end}.bold{font-weight:700}\n"
      ".small{font-size:10px}.big{font-size:15px}\n"
      ".pale{fill-opacity:.3}.dark{fill:#15181c}\n";
  static constexpr const char* light =
      ".page{fill:#fff}.ink{fill:#1b1f24}.muted{fill:#57606a}.empty{fill:#e4e8ec}\n"
      ".frame{fill:none;stroke:#1b1f24;stroke-width:2}.thin{fill:none;stroke:#8c959f;stroke-width:1}\n"
      ".clash{fill:none;stroke:#c21807;stroke-width:3}.clash-fill{fill:#c21807}.clash-text{fill:#c21807}\n"
      ".good-fill{fill:#00695c}.good-text{fill:#00695c}\n"
      ".on-fill{fill:#fff}.way{fill:none;stroke:#1b1f24;stroke-width:2}"
      ".jump{fill:none;stroke:#8c959f;stroke-width:1.5;stroke-dasharray:4 3}.dot{fill:#fff;stroke:#8c959f}\n";
  static constexpr const char* dark =
      ".page{fill:#0d1117}.ink{fill:#f0f3f6}.muted{fill:#a3adb8}.empty{fill:#2a313b}\n"
      ".frame{fill:none;stroke:#ffffff;stroke-width:2}.thin{fill:none;stroke:#6e7681;stroke-width:1}\n"
      ".clash{fill:none;stroke:#ff4d3a;stroke-width:3}.clash-fill{fill:#d92b18}.clash-text{fill:#ff7b6b}\n"
      ".good-fill{fill:#00796b}.good-text{fill:#4dd0b8}\n"
      ".on-fill{fill:#fff}.way{fill:none;stroke:#f0f3f6;stroke-width:2}"
      ".jump{fill:none;stroke:#6e7681;stroke-width:1.5;stroke-dasharray:4 3}.dot{fill:#0d1117;stroke:#6e7681}\n";
  std::string css = common;
  for (index_t i = 0; i < svg_drawing::num_colours; ++i) css += ".c" + std::to_string(i) + "{fill:" + fills[i] + "}";
  css += '\n';
  css += theme == svg_theme::dark ? dark : light;
  if (theme == svg_theme::automatic) css += std::string("@media (prefers-color-scheme:dark){\n") + dark + "}\n";
  return css;
}

}  // namespace

std::string svg_drawing::finish(index_t width, index_t height, std::string_view title, std::string_view description,
                                svg_theme theme) const {
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + std::to_string(width) + "\" height=\"" +
         std::to_string(height) + "\" viewBox=\"0 0 " + std::to_string(width) + " " + std::to_string(height) +
         "\" role=\"img\">\n<title>" + escaped(title) + "</title>\n<desc>" + escaped(description) +
         "</desc>\n<style>\n" + style(theme) + "</style>\n" + "<rect width=\"" + std::to_string(width) +
         "\" height=\"" + std::to_string(height) + "\" class=\"page\"/>\n" + body_ + "</svg>\n";
}

namespace {

/// Bytes of the character that the text begins with, in UTF-8; 0: it is none, or a control character.
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

}  // namespace

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

std::string svg_drawing::escaped(std::string_view text) {
  std::string result;
  for (const char c : printable(text)) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      default: result += c;
    }
  }
  return result;
}

}  // namespace tilewright::viz
