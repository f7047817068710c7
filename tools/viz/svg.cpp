// SPDX-License-Identifier: MIT
// Style sheet and frame of a picture.
#include <tilewright/viz/svg.hpp>

#include "../program/text.hpp"

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

std::string svg_drawing::escaped(std::string_view text) {
  std::string result;
  for (const char c : program::printable(text)) {
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
