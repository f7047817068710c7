// SPDX-License-Identifier: MIT
// Layouts and the accesses to them: costs and pictures.
#include "access.hpp"

#include "layout_spec.hpp"
#include "pattern.hpp"
#include "refusal.hpp"
#include "solve.hpp"

#include <tilewright/arch/occupancy.hpp>
#include <tilewright/lds/lds_proof.hpp>
#include <tilewright/viz/lds_picture.hpp>
#include <tilewright/viz/text_table.hpp>

#include <nlohmann/json.hpp>

namespace tilewright_layout {
namespace {

namespace tw = tilewright;
namespace viz = tilewright::viz;

/// One access to one layout.
struct examined {
  const named_pattern* pattern;
  tw::tensor_graph graph;  // as the access sees it
  tw::lds_access_analysis analysis;
  bool rests_on_evidence = false;
  tw::lds_address_needs addresses;
  tw::lds_legality direct;  // as a copy from global memory that bypasses registers
};

struct examined_layout {
  named_layout layout;
  index_t bytes = 0;
  std::vector<examined> accesses;
};

bool is_write(const named_pattern& pattern) {
  return pattern.kind == tw::lds_access_kind::write || pattern.kind == tw::lds_access_kind::stmatrix;
}
std::string title_of(const named_pattern& pattern) { return (is_write(pattern) ? "write " : "read ") + pattern.name; }

examined examine(const options& o, const named_layout& layout, const named_pattern& pattern) {
  examined result{&pattern, layout.graph, {}, false, {}, {}};
  const index_t most = pattern.max_bytes / o.tile.element_bytes;
  const tw::lds_access_walk natural(layout.graph, pattern.distribution, o.tile.element_bytes);
  if (natural.bytes_per_lane() > pattern.max_bytes) result.graph = with_runs_limited(layout.graph, o.tile, most);
  const tw::lds_legality legality = tw::check_lds_access(*o.target, result.graph, pattern.distribution,
                                                         o.tile.element_bytes, pattern.kind, 0, 1 << 30);
  if (!legality.is_legal()) {
    throw refusal(title_of(pattern) + " of --layout " + layout.name + ": " + sentence(legality.fault));
  }
  result.analysis = tw::analyze_lds_access(*o.target, result.graph, pattern.distribution, o.tile.element_bytes,
                                           pattern.kind, o.reading);
  result.rests_on_evidence = tw::rests_on_evidence(*o.target, result.analysis.op);
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

/// The phase to draw: of the worst instruction, unless another was asked for.
struct shown_phase {
  viz::lds_step step;
  const tw::arch::lds_service* service;
  viz::lds_phase_trace phase;
};

shown_phase shown(const options& o, const examined& access) {
  const tw::lds_access_walk walk(access.graph, access.pattern->distribution, o.tile.element_bytes);
  shown_phase result{
      viz::step_of(walk, access.pattern->kind, access.analysis.wave, access.analysis.access), nullptr, {}};
  result.service = &viz::deciding_reading(*o.target, result.step, o.reading);
  const std::vector<viz::lds_phase_trace> phases = viz::phases_of(*result.service, result.step);
  const index_t number = o.shown_phase >= 0 ? o.shown_phase : access.analysis.phase;
  if (number >= index_t(phases.size())) {
    throw refusal("--phase " + std::to_string(number) + ": " + title_of(*access.pattern) + " has phases 0 to " +
                  std::to_string(phases.size() - 1));
  }
  result.phase = phases[std::size_t(number)];
  return result;
}

viz::lds_picture picture_of(const options& o, const examined& access) {
  const shown_phase s = shown(o, access);
  return viz::picture_of(viz::lds_map(access.graph, o.tile.element_bytes), s.step, *s.service, s.phase, o.view);
}

/// The access that is drawn: the same for all layouts.
std::size_t access_to_show(const options& o, const std::vector<examined_layout>& layouts) {
  const std::size_t count = layouts[0].accesses.size();
  if (o.shown_access > index_t(count)) {
    throw refusal("--show " + std::to_string(o.shown_access) + ": there are " + std::to_string(count) + " accesses");
  }
  if (o.shown_access > 0) return std::size_t(o.shown_access - 1);
  std::size_t worst = 0;
  index_t degree = 0;
  for (const examined_layout& layout : layouts) {
    for (std::size_t i = 0; i < count; ++i) {
      if (layout.accesses[i].analysis.worst_degree <= degree) continue;
      degree = layout.accesses[i].analysis.worst_degree;
      worst = i;
    }
  }
  return worst;
}

std::string heading_of(const options& o) {
  return std::string(o.target->name) + ", tile of " + std::to_string(o.tile.rows) + " x " +
         std::to_string(o.tile.cols) + " " + o.dtype;
}

std::string place_text(const tw::lds_access_analysis& a) {
  const auto at = [&](index_t i) {
    return "lane " + std::to_string(a.lanes[i]) + " at (" + std::to_string(a.coordinates[i][0]) + ", " +
           std::to_string(a.coordinates[i][1]) + ")";
  };
  return "wave " + std::to_string(a.wave) + ", access " + std::to_string(a.access) + ", phase " +
         std::to_string(a.phase) +
         (a.worst_degree > 1 ? ", bank " + std::to_string(a.bank) + ": " + at(0) + " and " + at(1) : "");
}

/// "whole tile: 16 instructions, 128 cycles and 896 extra"
std::string cost_text(const tw::lds_access_analysis& a) {
  return "whole tile: " + std::to_string(a.executions) + " instructions, " + std::to_string(a.phases) + " cycles" +
         (a.conflicts > 0 ? " and " + std::to_string(a.conflicts) + " extra" : "");
}

/// "bank 16 of 32, phase 0: word 400 (bytes 1600 to 1603): lane 12 at (12, 0)", a line for each word.
std::string bank_text(const options& o, const shown_phase& s) {
  const index_t banks = s.service->banks;
  if (o.explained_bank >= banks) {
    throw refusal("--explain-bank " + std::to_string(o.explained_bank) + ": the instruction sees banks 0 to " +
                  std::to_string(banks - 1));
  }
  const auto& visits = s.phase.banks[std::size_t(o.explained_bank)];
  std::string text = "bank " + std::to_string(o.explained_bank) + " of " + std::to_string(banks) + " in phase " +
                     std::to_string(s.phase.phase) + ", words whose number modulo " + std::to_string(banks) + " is " +
                     std::to_string(o.explained_bank) + ": " + std::to_string(visits.size()) +
                     (visits.size() == 1 ? " cycle\n" : " cycles\n");
  for (const viz::lds_bank_visit& visit : visits) {
    text += "  word " + std::to_string(visit.dword) + ", byte " + std::to_string(visit.dword * 4) + ": ";
    for (std::size_t i = 0; i < visit.lanes.size(); ++i) {
      const auto& at = s.step.element[visit.lanes[i]];
      text += (i > 0 ? ", lane " : "lane ") + std::to_string(visit.lanes[i]) + " at (" + std::to_string(at[0]) + ", " +
              std::to_string(at[1]) + ")";
    }
    text += "\n";
  }
  return text;
}

/// "ds_read_b128: V, from such and such a source", a line for each kind of instruction.
std::string evidence_text(const options& o, const examined_layout& layout) {
  std::string text;
  for (const examined& access : layout.accesses) {
    const tw::arch::lds_op op = access.analysis.op;
    std::string line = std::string(tw::arch::instruction_name(*o.target, op)) + " is known by ";
    const auto& readings = o.target->find(op)->readings;
    for (index_t i = 0; i < readings.size(); ++i)
      line +=
          (i > 0 ? "; or " : "") + std::string(1, tw::arch::letter(readings[i].known_by)) + ": " + readings[i].source;
    if (text.find(line) == std::string::npos) text += line + "\n";
  }
  return text;
}

std::string text_of(const options& o, const std::vector<examined_layout>& layouts, std::size_t drawn) {
  std::string text = heading_of(o) + "\n";
  for (const examined_layout& layout : layouts) {
    text += "\nlayout " + layout.layout.name + ": " + layout.layout.description + "; " + std::to_string(layout.bytes) +
            " bytes";
    if (layout.bytes > o.target->lds_bytes) {
      text += ", MORE than the " + std::to_string(o.target->lds_bytes) + " that a block may have\n";
    } else {
      text += ", room for " + std::to_string(tw::arch::resident_blocks(*o.target, layout.bytes)) + " blocks\n";
    }
    viz::text_table table;
    table.add({"access", "instruction", "executions", "worst degree", "extra cycles", "known by", "address registers"});
    for (const examined& access : layout.accesses) {
      const tw::lds_access_analysis& a = access.analysis;
      table.add({title_of(*access.pattern), tw::arch::instruction_name(*o.target, a.op), std::to_string(a.executions),
                 std::to_string(a.worst_degree), std::to_string(a.conflicts),
                 std::string(1, tw::arch::letter(a.known_by)), std::to_string(access.addresses.registers)});
    }
    text += table.str() + evidence_text(o, layout);
    const examined& access = layout.accesses[drawn];
    const shown_phase s = shown(o, access);
    text += "\n" + title_of(*access.pattern) + ", " + place_text(access.analysis) + "\n";
    viz::text_table phases;
    phases.add({"phase", "cycles", "lanes"});
    for (const viz::lds_phase_trace& phase : viz::phases_of(*s.service, s.step)) {
      phases.add({std::to_string(phase.phase), std::to_string(phase.degree), viz::lanes_text(phase.lanes)});
    }
    text += phases.str() + "\nphase " + std::to_string(s.phase.phase) + ": " + viz::verdict_of(s.phase) + "\n" +
            viz::lds_text(picture_of(o, access), o.view);
    if (o.explained_bank >= 0) text += "\n" + bank_text(o, s);
    for (const examined& each : layout.accesses) {
      if (o.direct && is_write(*each.pattern)) {
        text += title_of(*each.pattern) + " without registers: " +
                (each.direct.is_legal() ? std::string("possible") : sentence(each.direct.fault)) + "\n";
      }
      if (each.analysis.same_dword_writes > 0)
        text += title_of(*each.pattern) + ": lanes write to the same word at once; what that costs is not known\n";
      if (o.only_evidence && !each.rests_on_evidence)
        text += title_of(*each.pattern) + ": nobody has documented or measured this instruction\n";
    }
  }
  return text;
}

std::string svg_of(const options& o, const std::vector<examined_layout>& layouts, std::size_t drawn) {
  std::vector<viz::lds_panel> panels;
  for (const examined_layout& layout : layouts) {
    const examined& access = layout.accesses[drawn];
    panels.push_back({layout.layout.title, cost_text(access.analysis), picture_of(o, access), o.view});
  }
  const examined& access = layouts[0].accesses[drawn];
  const std::string heading = heading_of(o) + ", " + title_of(*access.pattern) + ": " +
                              tw::arch::instruction_name(*o.target, access.analysis.op);
  return viz::lds_svg(panels, o.title.empty() ? heading : o.title, o.theme);
}

nlohmann::ordered_json json_of(const options& o, const std::vector<examined_layout>& layouts) {
  using json = nlohmann::ordered_json;
  json all{{"target", o.target->name},
           {"rows", o.tile.rows},
           {"columns", o.tile.cols},
           {"element", o.dtype},
           {"layouts", json::array()}};
  for (const examined_layout& layout : layouts) {
    json accesses = json::array();
    for (const examined& access : layout.accesses) {
      json one{{"pattern", access.pattern->name},
               {"kind", is_write(*access.pattern) ? "write" : "read"},
               {"rests_on_evidence", access.rests_on_evidence},
               {"address_registers", access.addresses.registers}};
      if (is_write(*access.pattern)) one["direct_to_lds"] = access.direct.is_legal();
      const tw::lds_access_walk walk(access.graph, access.pattern->distribution, o.tile.element_bytes);
      one.update(viz::analysis_json(*o.target, access.analysis, walk, access.pattern->kind, o.reading));
      accesses.push_back(one);
    }
    all["layouts"].push_back({{"name", layout.layout.name},
                              {"description", layout.layout.description},
                              {"bytes", layout.bytes},
                              {"fits", layout.bytes <= o.target->lds_bytes},
                              {"blocks_that_fit", tw::arch::resident_blocks(*o.target, layout.bytes)},
                              {"accesses", accesses}});
  }
  return all;
}

}  // namespace

namespace {

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
