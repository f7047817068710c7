// SPDX-License-Identifier: MIT
// Layouts with the accesses to them, as text, picture and JSON.
#include "examined.hpp"

#include "refusal.hpp"

#include <tilewright/core/arch/occupancy.hpp>
#include <tilewright/viz/lds_picture.hpp>
#include <tilewright/viz/text_table.hpp>

namespace tilewright_layout {

namespace tw = tilewright;
namespace viz = tilewright::viz;

namespace {

/// The phase to draw: of the worst instruction, unless another was asked for.
struct shown_phase {
  viz::lds_step step;
  const tw::arch::lds_service* service;
  viz::lds_phase_trace phase;
};

shown_phase shown(const options& o, const examined& access) {
  const tw::lds_access_pattern pattern(access.graph, access.pattern->distribution, o.tile.element_bytes);
  shown_phase result{
      viz::step_of(pattern, access.pattern->kind, access.analysis.wave, access.analysis.access), nullptr, {}};
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

}  // namespace

bool is_write(const named_pattern& pattern) {
  return pattern.kind == tw::lds_access_kind::write || pattern.kind == tw::lds_access_kind::stmatrix;
}
std::string title_of(const named_pattern& pattern) { return (is_write(pattern) ? "write " : "read ") + pattern.name; }

std::size_t access_to_show(const options& o, const std::vector<examined_layout>& layouts) {
  const std::size_t count = layouts[0].accesses.size();
  if (o.shown_access > index_t(count)) {
    throw refusal("--show " + std::to_string(o.shown_access) + ": the accesses are numbered from 1 to " +
                  std::to_string(count));
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
        text += title_of(*each.pattern) +
                " without registers: " + (each.direct.is_legal() ? std::string("possible") : each.direct.message()) +
                "\n";
      }
      if (each.analysis.same_dword_writes > 0)
        text += title_of(*each.pattern) + ": lanes write to the same word at once; what that costs is not known\n";
      if (o.only_evidence && !each.rests_on_evidence)
        text += title_of(*each.pattern) + ": no source documents or measures this instruction\n";
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
      const tw::lds_access_pattern pattern(access.graph, access.pattern->distribution, o.tile.element_bytes);
      one.update(viz::analysis_json(*o.target, access.analysis, pattern, access.pattern->kind, o.reading));
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

}  // namespace tilewright_layout
