// SPDX-License-Identifier: MIT
// Layouts and the accesses to them: costs and pictures.
#include "access.hpp"

#include "examined.hpp"
#include "refusal.hpp"
#include "solve.hpp"

#include <tilewright/viz/lds_picture.hpp>

namespace tilewright_layout {
namespace {

namespace tw = tilewright;
namespace viz = tilewright::viz;

examined examine(const options& o, const named_layout& layout, const named_pattern& pattern) {
  examined result{&pattern, layout.graph, {}, false, {}, {}};
  const index_t most = pattern.max_bytes / o.tile.element_bytes;
  const tw::lds_access_pattern natural(layout.graph, pattern.distribution, o.tile.element_bytes);
  if (natural.bytes_per_lane() > pattern.max_bytes) result.graph = with_runs_limited(layout.graph, o.tile, most);
  const tw::lds_legality legality = tw::check_lds_access(*o.target, result.graph, pattern.distribution,
                                                         o.tile.element_bytes, pattern.kind, 0, 1 << 30);
  if (!legality.is_legal()) {
    throw refusal(title_of(pattern) + " of --layout " + layout.name + ": " + legality.message());
  }
  result.analysis = tw::analyze_lds_access(*o.target, result.graph, pattern.distribution, o.tile.element_bytes,
                                           pattern.kind, o.reading);
  result.rests_on_evidence = tw::arch::rests_on_evidence(*o.target, result.analysis.op);
  result.direct = tw::check_direct_to_lds(*o.target, result.graph, pattern.distribution, o.tile.element_bytes);
  result.addresses = tw::address_needs(result.graph, pattern.distribution, o.tile.element_bytes);
  return result;
}

bool is_fine(const options& o, const examined_layout& layout) {
  for (const examined& access : layout.accesses) {
    if (!access.analysis.is_conflict_free() || (o.only_evidence && !access.rests_on_evidence)) return false;
    if (o.direct && is_write(*access.pattern) && !access.direct.is_legal()) return false;
  }
  return layout.bytes <= o.target->lds_bytes;
}

std::vector<named_pattern> patterns_of(const options& o) {
  std::vector<named_pattern> patterns;
  for (const std::string& text : o.writes) patterns.push_back(pattern_of(text, *o.target, o.tile, true, o.threads));
  for (const std::string& text : o.reads) patterns.push_back(pattern_of(text, *o.target, o.tile, false, o.threads));
  return patterns;
}

/// One layout for all targets, which must access the tile alike.
named_layout solve_for_all(const options& asked) {
  options o = asked;
  const std::vector<named_pattern> patterns = patterns_of(o);
  for (const tw::arch::target* const target : asked.targets) {
    o.target = target;
    const std::vector<named_pattern> others = patterns_of(o);
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      if (others[i].distribution == patterns[i].distribution && others[i].kind == patterns[i].kind) continue;
      throw refusal("--layout solve: threads of " + std::string(asked.targets[0]->name) + " and of " + target->name +
                    " do not share the tile alike in pattern " + patterns[i].name + "; ask for one --arch at a time");
    }
  }
  return solve(asked.targets, asked.tile, patterns);
}

/// The accesses of one target.
struct examined_target {
  options asked;  // of this target
  std::vector<named_pattern> patterns;
  std::vector<examined_layout> layouts;
};

}  // namespace

answer access_answer(const options& o) {
  answer result;
  std::vector<examined_target> all;
  all.reserve(o.targets.size());
  for (const tw::arch::target* const target : o.targets) {
    examined_target& one = all.emplace_back();
    one.asked = o;
    one.asked.target = target;
    one.patterns = patterns_of(one.asked);
    for (const std::string& text : o.layouts) {
      examined_layout& layout = one.layouts.emplace_back();
      layout.layout = text == "solve" ? solve_for_all(o) : layout_of(text, *target, o.tile);
      layout.bytes = viz::lds_map(layout.layout.graph, o.tile.element_bytes).size();
      for (const named_pattern& pattern : one.patterns)
        layout.accesses.push_back(examine(one.asked, layout.layout, pattern));
      if (!is_fine(one.asked, layout)) result.exit_code = 1;
    }
  }
  if (o.as == format::svg) {
    result.text = svg_of(all[0].asked, all[0].layouts, access_to_show(all[0].asked, all[0].layouts));
    return result;
  }
  nlohmann::ordered_json documents = nlohmann::ordered_json::array();
  for (const examined_target& one : all) {
    if (o.as == format::text) {
      result.text +=
          (result.text.empty() ? "" : "\n") + text_of(one.asked, one.layouts, access_to_show(one.asked, one.layouts));
    } else {
      documents.push_back(json_of(one.asked, one.layouts));
    }
  }
  if (o.as == format::json) {
    const auto& document = all.size() == 1 ? documents[0] : documents;
    result.text = document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  }
  return result;
}

}  // namespace tilewright_layout
