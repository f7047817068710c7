// SPDX-License-Identifier: MIT
// A small SVG writer: shapes with classes, colours from one palette that is legible on light and on dark backgrounds.
#pragma once

#include <tilewright/util/index.hpp>
#include <tilewright/viz/concat.hpp>

#include <string>
#include <string_view>

namespace tilewright::viz {

/// Automatic: the viewer's preference decides.
enum class svg_theme { automatic, light, dark };

/// Lengths are pixels at 100 %. Classes: see style below.
class svg_drawing {
 public:
  static constexpr index_t num_colours = 16;

  void rect(index_t x, index_t y, index_t width, index_t height, std::string_view classes, index_t radius = 0) {
    body_ += "<rect x=\"" + number(x) + "\" y=\"" + number(y) + "\" width=\"" + number(width) + "\" height=\"" +
             number(height) + "\"" + (radius > 0 ? " rx=\"" + number(radius) + "\"" : "") + of_class(classes) + "/>\n";
  }
  void line(index_t x1, index_t y1, index_t x2, index_t y2, std::string_view classes) {
    body_ += "<path d=\"M" + number(x1) + " " + number(y1) + "L" + number(x2) + " " + number(y2) + "\"" +
             of_class(classes) + "/>\n";
  }
  /// d: an SVG path.
  void path(std::string_view d, std::string_view classes) {
    body_ += "<path d=\"" + std::string(d) + "\"" + of_class(classes) + "/>\n";
  }
  void circle(index_t x, index_t y, index_t radius, std::string_view classes) {
    body_ += "<circle cx=\"" + number(x) + "\" cy=\"" + number(y) + "\" r=\"" + number(radius) + "\"" +
             of_class(classes) + "/>\n";
  }
  /// The text's base line begins (class mid: has its middle; class end: ends) at (x, y).
  void text(index_t x, index_t y, std::string_view classes, std::string_view content) {
    body_ += "<text x=\"" + number(x) + "\" y=\"" + number(y) + "\"" + of_class(classes) + ">" + escaped(content) +
             "</text>\n";
  }

  /// The whole picture; title and description are for those who cannot see it.
  std::string finish(index_t width, index_t height, std::string_view title, std::string_view description,
                     svg_theme theme) const {
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + number(width) + "\" height=\"" + number(height) +
           "\" viewBox=\"0 0 " + number(width) + " " + number(height) + "\" role=\"img\">\n<title>" + escaped(title) +
           "</title>\n<desc>" + escaped(description) + "</desc>\n<style>\n" + style(theme) + "</style>\n" +
           "<rect width=\"" + number(width) + "\" height=\"" + number(height) + "\" class=\"page\"/>\n" + body_ +
           "</svg>\n";
  }

 private:
  static std::string number(index_t n) { return std::to_string(n); }
  static std::string of_class(std::string_view classes) {
    return classes.empty() ? "" : " class=\"" + std::string(classes) + "\"";
  }
  static std::string escaped(std::string_view text) {
    std::string result;
    for (const char c : text) {
      switch (c) {
        case '&': result += "&amp;"; break;
        case '<': result += "&lt;"; break;
        case '>': result += "&gt;"; break;
        default: result += c;
      }
    }
    return result;
  }

  /// Eight hues that people with any colour vision can tell apart, after Paul Tol's light scheme,
  /// and a darker tone of each.
  static std::string style(svg_theme theme) {
    static constexpr const char* fills[num_colours] = {"#77aadd", "#ee8866", "#eedd88", "#44bb99", "#ffaabb", "#99ddff",
                                                       "#bbcc33", "#cabbe0", "#4f86bf", "#c9663f", "#c9b356", "#2f9478",
                                                       "#dd7f95", "#66b5dd", "#96a61f", "#a48fc4"};
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
    for (index_t i = 0; i < num_colours; ++i) css += ".c" + number(i) + "{fill:" + fills[i] + "}";
    css += '\n';
    css += theme == svg_theme::dark ? dark : light;
    if (theme == svg_theme::automatic) css += std::string("@media (prefers-color-scheme:dark){\n") + dark + "}\n";
    return css;
  }

  std::string body_;
};

/// The class that colours number i.
inline std::string colour_class(index_t i) { return concat('c', i % svg_drawing::num_colours); }

}  // namespace tilewright::viz
