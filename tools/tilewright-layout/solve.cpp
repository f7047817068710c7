// SPDX-License-Identifier: MIT
// Asks the library for a layout that serves all accesses.
#include "solve.hpp"

#include "refusal.hpp"

#include <tilewright/core/lds/layout_padding.hpp>

namespace tilewright_layout {

namespace tw = tilewright;

named_layout solve(const std::vector<const tw::arch::target*>& all, const tw::lds_tile& tile,
                   const std::vector<named_pattern>& patterns) {
  const tw::arch::target* const* const targets = all.data();
  const index_t num_targets = index_t(all.size());
  std::vector<tw::lds_use> uses;
  for (const named_pattern& pattern : patterns) {
    const index_t bytes = tw::detail::widest_vector_bytes({pattern.distribution, pattern.kind}, tile);
    if (bytes > pattern.max_bytes) {
      throw refusal("--layout solve: threads of pattern " + pattern.name + " hold " + std::to_string(bytes) +
                    " neighbouring bytes, and layouts are found for the widest accesses; take the width " +
                    std::to_string(bytes) + "B");
    }
    uses.push_back({pattern.distribution, pattern.kind});
    const tw::lds_legality fault = tw::check_lds_uses(targets, num_targets, tile, &uses.back(), 1);
    if (!fault.is_legal()) throw refusal("--layout solve, pattern " + pattern.name + ": " + fault.message());
  }
  const tw::lds_layout_choice choice =
      tw::choose_lds_layout(targets, num_targets, tile, uses.data(), index_t(uses.size()));
  named_layout layout = layout_of("solve", "found by the library", choice.layout);
  if (choice.worst_degree > 1) {
    layout.description += choice.is_proven_best ? "; no linear layout is better" : "; no better one was found";
    const index_t num_uses = index_t(uses.size());
    const auto cost = [&](const tw::tensor_graph& graph) {
      return tw::detail::cost_of_uses(targets, num_targets, graph, tile.element_bytes, uses.data(), num_uses).cycles;
    };
    const tw::detail::lds_padding_choice pad =
        tw::choose_lds_padding(targets, num_targets, tile, uses.data(), num_uses);
    const index_t cycles = cost(layout.graph);
    if (pad.cost.cycles > 0 && pad.cost.cycles < cycles)
      layout.description += "; padded:" + std::to_string(pad.pad_bytes) + " takes " + std::to_string(pad.cost.cycles) +
                            " cycles instead of " + std::to_string(cycles);
  }
  return layout;
}

}  // namespace tilewright_layout
