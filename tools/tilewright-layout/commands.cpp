// SPDX-License-Identifier: MIT
// Distributions, curves and phases.
#include "commands.hpp"

#include "access.hpp"
#include "pattern.hpp"
#include "words.hpp"

#include <tilewright/core/distribution/matrix_curves.hpp>
#include <tilewright/viz/curve_picture.hpp>
#include <tilewright/viz/phases_picture.hpp>

namespace tilewright_layout {
namespace {

namespace viz = tilewright::viz;

answer distribution(const options& o) {
  const named_pattern pattern = pattern_of(o.pattern, *o.target, o.tile, false, o.threads);
  const std::string heading = !o.title.empty()
                                  ? o.title
                                  : pattern.name + " on " + o.target->name + ", tile " + std::to_string(o.tile.rows) +
                                        "x" + std::to_string(o.tile.cols) + " " + o.dtype;
  switch (o.as) {
    case format::svg: return {0, viz::distribution_svg(pattern.distribution, heading, o.colours, o.theme)};
    case format::json: return {0, viz::distribution_json(pattern.distribution, heading)};
    case format::text: break;
  }
  return {0, heading + "; each entry is " + (viz::num_waves(pattern.distribution) > 1 ? "wave.lane" : "lane") +
                 ":registers\n" + viz::distribution_text(pattern.distribution)};
}

/// "4x6:order=1,0:access=1x2:snake", "4x6:hilbert", "4x6:groups=2:snake"
viz::curve_path path_of_words(const std::string& text) {
  const std::vector<std::string> words = split(text, ':');
  const std::vector<index_t> lengths = lengths_of(words[0], "curve " + text, 2);
  if (lengths[0] * lengths[1] > 4096) throw refusal("curve " + text + ": tiles of up to 4096 elements are drawn");
  tilewright::curve<2> pattern{{lengths[0], lengths[1]}, {0, 1}, {1, 1}, false};
  bool hilbert = false, ordinary = false;
  index_t groups = 0;
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "snake") {
      pattern.snake = true;
    } else if (words[i] == "hilbert") {
      hilbert = true;
    } else if (words[i].starts_with("groups=")) {
      groups = number_of(words[i].substr(7), "curve " + text + ": groups", 1, 1 << 12);
    } else if (words[i] == "order=1,0" || words[i] == "order=0,1") {
      ordinary = true;
      if (words[i] == "order=1,0") pattern.order = {1, 0};
    } else if (words[i].starts_with("access=")) {
      ordinary = true;
      const std::vector<index_t> scalars = lengths_of(words[i].substr(7), "curve " + text + ": access", 2);
      pattern.scalars_per_access = {scalars[0], scalars[1]};
    } else {
      throw refusal("curve " + text + ": '" + words[i] +
                    "' is not known; there are order=0,1, order=1,0, access=ROWSxCOLS, snake, hilbert and groups=ROWS");
    }
  }
  if (hilbert + (groups > 0) + ordinary > 1 || (hilbert && pattern.snake)) {
    throw refusal("curve " + text + ": hilbert stands alone, and groups=ROWS goes with snake alone");
  }
  if (hilbert) return viz::path_of(tilewright::hilbert_curve{lengths[0], lengths[1]});
  if (groups > 0) return viz::path_of(tilewright::row_group_curve{lengths[0], lengths[1], groups, pattern.snake});
  return viz::path_of(pattern);
}

answer curves(const options& o) {
  std::vector<viz::curve_panel> panels;
  for (const std::string& text : o.curves) panels.push_back({text, path_of_words(text)});
  if (o.as == format::svg)
    return {0, viz::curve_svg(panels, o.title.empty() ? "Order of the accesses" : o.title, o.theme)};
  if (o.as == format::json && panels.size() > 1) throw refusal("--format json takes one curve at a time");
  std::string text;
  for (const viz::curve_panel& panel : panels) {
    text += o.as == format::json ? viz::curve_json(panel.path) : panel.title + "\n" + viz::curve_text(panel.path);
  }
  return {0, text};
}

answer phases(const options& o) {
  switch (o.as) {
    case format::svg: return {0, viz::phases_svg(*o.target, o.theme)};
    case format::json: return {0, viz::phases_json(*o.target)};
    case format::text: break;
  }
  return {0, viz::phases_text(*o.target)};
}

}  // namespace

answer answer_to(const options& asked) {
  switch (asked.what) {
    case command::distribution: return distribution(asked);
    case command::curve: return curves(asked);
    case command::phases: return phases(asked);
    case command::access: break;
  }
  return access_answer(asked);
}

}  // namespace tilewright_layout
