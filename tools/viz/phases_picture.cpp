// SPDX-License-Identifier: MIT
// Draws which lanes of a wave each LDS instruction of a target serves together. As text, SVG and JSON.
#include <tilewright/viz/lds_trace.hpp>
#include <tilewright/viz/phases_picture.hpp>

#include <nlohmann/json.hpp>

namespace tilewright::viz {

using json = nlohmann::ordered_json;
namespace {

/// The number of the phase that serves each lane.
std::vector<index_t> phase_of_lanes(const arch::lds_phases& phases) {
  std::vector<index_t> result(std::size_t(phases.wave_size));
  for (index_t place = 0; place < phases.wave_size; ++place) {
    result[std::size_t(phases.lane_at_position(place))] = place / phases.lanes_per_phase;
  }
  return result;
}

std::vector<index_t> lanes_of(const arch::lds_phases& phases, index_t phase) {
  std::vector<index_t> lanes;
  for (index_t i = 0; i < phases.lanes_per_phase; ++i)
    lanes.push_back(phases.lane_at_position(phase * phases.lanes_per_phase + i));
  return lanes;
}

/// Calls see(name, service) for every reading of every row.
template <class See>
void for_each_service(const arch::target& target, See&& see) {
  for (const arch::lds_instruction& row : target.lds) {
    for (const arch::lds_service& service : row.readings)
      see(std::string(arch::instruction_name(target, row.op)), service);
  }
}

}  // namespace

std::string phases_text(const arch::target& target) {
  std::string text;
  for_each_service(target, [&](const std::string& name, const arch::lds_service& service) {
    text += name + ": " + std::to_string(service.banks) + " banks, known by " + arch::letter(service.known_by) + " (" +
            service.source + ")\n";
    for (index_t p = 0; p < service.phases.num_phases(); ++p) {
      text += "  phase " + std::to_string(p) + ": lanes " + lanes_text(lanes_of(service.phases, p)) + "\n";
    }
  });
  return text;
}

std::string phases_svg(const arch::target& target, svg_theme theme) {
  constexpr index_t margin = 16, label = 190, top = 70, row = 30;
  const index_t cell = target.wave_size > 32 ? 15 : 22;
  svg_drawing svg;
  const std::string heading = std::string("Lanes of a wave that ") + target.name + " serves together";
  svg.text(margin, 26, "ink bold big", heading);
  svg.text(margin, 44, "muted", "one colour and number: one phase; lanes of different phases never conflict");
  for (index_t lane = 0; lane < target.wave_size; lane += 4) {
    svg.text(margin + label + lane * cell + cell / 2, top - 4, "muted small mid", std::to_string(lane));
  }
  index_t y = top;
  for_each_service(target, [&](const std::string& name, const arch::lds_service& service) {
    svg.text(margin, y + 15, "ink", name);
    svg.text(margin + label - 8, y + 15, "muted small end",
             std::to_string(service.banks) + " banks, " + arch::letter(service.known_by));
    const std::vector<index_t> phase = phase_of_lanes(service.phases);
    for (index_t lane = 0; lane < target.wave_size; ++lane) {
      const index_t p = phase[std::size_t(lane)];
      svg.rect(margin + label + lane * cell, y, cell - 1, 20, colour_class(p), 2);
      svg.text(margin + label + lane * cell + cell / 2, y + 14, "dark small mid", std::to_string(p));
    }
    y += row;
  });
  return svg.finish(2 * margin + label + target.wave_size * cell, y + 10, heading,
                    "Which phase serves each lane, for every LDS instruction.", theme);
}

std::string phases_json(const arch::target& target) {
  json instructions = json::array();
  for_each_service(target, [&](const std::string& name, const arch::lds_service& service) {
    json phases = json::array();
    for (index_t p = 0; p < service.phases.num_phases(); ++p) phases.push_back(lanes_of(service.phases, p));
    instructions.push_back({{"name", name},
                            {"banks", service.banks},
                            {"known_by", std::string(1, arch::letter(service.known_by))},
                            {"source", service.source},
                            {"phases", phases}});
  });
  const json all{{"target", target.name},
                 {"wave_size", target.wave_size},
                 {"lds_bytes", target.lds_bytes},
                 {"instructions", instructions}};
  return all.dump(2) + "\n";
}

}  // namespace tilewright::viz
