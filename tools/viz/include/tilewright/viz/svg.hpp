// SPDX-License-Identifier: MIT
// A small SVG writer: shapes with classes, colours from one palette that is legible on light and on dark backgrounds.
#pragma once

#include <tilewright/core/base/index.hpp>
#include <tilewright/viz/text_table.hpp>

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
                     svg_theme theme) const;

 private:
  static std::string number(index_t n) { return std::to_string(n); }
  static std::string of_class(std::string_view classes) {
    return classes.empty() ? "" : " class=\"" + std::string(classes) + "\"";
  }
  static std::string escaped(std::string_view text);
  std::string body_;
};

/// The class that colours number i.
inline std::string colour_class(index_t i) { return concat('c', i % svg_drawing::num_colours); }

}  // namespace tilewright::viz
