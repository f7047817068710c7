// SPDX-License-Identifier: MIT
// What the access to a tile in LDS costs, as JSON: the numbers of analyze_lds_access, and the phases that cause them.
#include <tilewright/viz/lds_picture.hpp>

#include <nlohmann/json.hpp>

namespace tilewright::viz {

using json = nlohmann::ordered_json;

json analysis_json(const arch::target& target, const lds_access_analysis& total, const lds_access_pattern& pattern,
                   lds_access_kind kind, lds_reading reading) {
  const lds_step worst = step_of(pattern, kind, total.wave, total.access);
  const arch::lds_service& service = deciding_reading(target, worst, reading);
  json elements = json::array(), phases = json::array();
  for (const auto& at : total.coordinates) elements.push_back({at[0], at[1]});
  for (const lds_phase_trace& phase : phases_of(service, worst)) {
    json addresses = json::array();
    for (const index_t lane : phase.lanes) addresses.push_back(worst.address[lane]);
    phases.push_back({{"lanes", phase.lanes}, {"degree", phase.degree}, {"addresses", addresses}});
  }
  return {{"instruction", arch::instruction_name(target, total.op)},
          {"instructions", total.executions},
          {"conflict_free", total.is_conflict_free()},
          {"worst_degree", total.worst_degree},
          {"phases", total.phases},
          {"cycles", total.cycles},
          {"extra_cycles", total.conflicts},
          {"clocks", total.clocks},
          {"same_dword_writes", total.same_dword_writes},
          {"banks", service.banks},
          {"known_by", std::string(1, arch::letter(service.known_by))},
          {"source", service.source},
          {"worst",
           {{"wave", total.wave},
            {"access", total.access},
            {"phase", total.phase},
            {"bank", total.bank},
            {"lanes", {total.lanes[0], total.lanes[1]}},
            {"elements", elements},
            {"phases", phases}}}};
}

}  // namespace tilewright::viz
