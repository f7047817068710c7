// SPDX-License-Identifier: MIT
// Follows the access to a tile in LDS, instruction by instruction and phase by phase,
// down to who waits for whom in which bank.
#include <tilewright/viz/lds_trace.hpp>
#include <tilewright/viz/text_table.hpp>

#include <algorithm>

namespace tilewright::viz {
lds_step step_of(const lds_access_pattern& pattern, lds_access_kind kind, index_t wave, index_t access) {
  lds_step step{detail::lds_op_of(kind, pattern.bytes_per_lane(), pattern.element_bytes()),
                wave,
                access,
                pattern.addresses(wave, access),
                {}};
  for (index_t lane = 0; lane < pattern.num_lanes(); ++lane) {
    const auto x = pattern.position_of(wave, lane, access);
    step.element[lane] = {{x[0], x[1]}};
  }
  return step;
}

const arch::lds_service& deciding_reading(const arch::target& target, const lds_step& step, lds_reading reading) {
  const auto& readings = target.find(step.op)->readings;
  if (readings.size() == 1 || reading == lds_reading::first) return readings[0];
  if (reading == lds_reading::second) return readings[1];
  const auto cost = [&](index_t i) {
    return lds_cost(readings[i], arch::access_bytes(step.op), arch::is_write(step.op), step.address);
  };
  const lds_access_cost first = cost(0), second = cost(1);
  const bool second_is_worse = second.worst_degree != first.worst_degree ? second.worst_degree > first.worst_degree
                               : second.conflicts != first.conflicts     ? second.conflicts > first.conflicts
                                                                         : second.cycles > first.cycles;
  return readings[second_is_worse ? 1 : 0];
}

std::vector<lds_phase_trace> phases_of(const arch::lds_service& row, const lds_step& step) {
  const arch::lds_service service = detail::lanes_share(row, step.address) ? row.merged() : row;
  const index_t bytes = arch::access_bytes(step.op);
  std::vector<lds_phase_trace> result;
  for (index_t phase = 0; phase < service.phases.num_phases(); ++phase) {
    lds_phase_trace& trace = result.emplace_back();
    trace.phase = phase;
    trace.banks.resize(std::size_t(service.banks));
    for (index_t i = 0; i < service.phases.lanes_per_phase; ++i) {
      const index_t lane = service.phases.lane_at_position(phase * service.phases.lanes_per_phase + i);
      trace.lanes.push_back(lane);
      const index_t address = step.address[lane];
      if (address < 0) continue;
      for (index_t dword = address / 4; dword <= (address + bytes - 1) / 4; ++dword) {
        auto& bank = trace.banks[std::size_t(dword % service.banks)];
        std::size_t visit = 0;
        while (visit < bank.size() && bank[visit].dword != dword) ++visit;
        if (visit == bank.size()) bank.push_back({dword, {}});
        bank[visit].lanes.push_back(lane);
        trace.degree = max(trace.degree, index_t(bank.size()));
      }
    }
  }
  return result;
}

std::string lanes_text(std::vector<index_t> lanes) {
  std::sort(lanes.begin(), lanes.end());
  std::string text;
  for (std::size_t i = 0; i < lanes.size();) {
    std::size_t last = i;
    while (last + 1 < lanes.size() && lanes[last + 1] == lanes[last] + 1) ++last;
    text += concat(text.empty() ? "" : ", ", lanes[i]);
    if (last > i) text += concat('-', lanes[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace tilewright::viz
