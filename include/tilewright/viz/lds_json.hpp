// SPDX-License-Identifier: MIT
// What the access to a tile in LDS costs, as JSON: the numbers of analyze_lds_access, and the phases behind them.
#pragma once

#include <tilewright/viz/json.hpp>
#include <tilewright/viz/lds_trace.hpp>

#include <string>
#include <vector>

namespace tilewright::viz {

/// Adds what an access costs to the open object: the totals, and every phase of the worst instruction.
inline void put_analysis(json_writer& json, const arch::target& target, const lds_access_analysis& total,
                         const lds_access_walk& walk, lds_access_kind kind, lds_reading reading = lds_reading::worst) {
  const lds_step worst = step_of(walk, kind, total.wave, total.access);
  const arch::lds_service& service = deciding_reading(target, worst, reading);
  json.value("instruction", arch::instruction_name(target, total.op));
  json.value("instructions", total.executions);
  json.value("conflict_free", total.is_conflict_free());
  json.value("worst_degree", total.worst_degree);
  json.value("phases", total.phases);
  json.value("cycles", total.cycles);
  json.value("extra_cycles", total.conflicts);
  json.value("clocks", total.clocks);
  json.value("same_dword_writes", total.same_dword_writes);
  json.value("banks", service.banks);
  json.value("known_by", std::string(1, arch::letter(total.known_by)));
  json.value("source", service.source);
  json.begin_object("worst");
  json.value("wave", total.wave);
  json.value("access", total.access);
  json.value("phase", total.phase);
  json.value("bank", total.bank);
  json.numbers("lanes", total.lanes);
  json.begin_array("elements");
  for (const auto& at : total.coordinates) json.numbers({}, at);
  json.end_array();
  json.begin_array("phases");
  for (const lds_phase_trace& phase : phases_of(service, worst)) {
    json.begin_object();
    json.numbers("lanes", phase.lanes);
    json.value("degree", phase.degree);
    std::vector<index_t> addresses;
    for (const index_t lane : phase.lanes) addresses.push_back(worst.address[lane]);
    json.numbers("addresses", addresses);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

}  // namespace tilewright::viz
