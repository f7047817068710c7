// SPDX-License-Identifier: MIT
// Pads for rows: the one that costs the fewest cycles, for tiles that no swizzle serves, or of any number of columns;
// and the proof of a layout that choose_lds_layout found.
#pragma once

#include <tilewright/core/lds/layout_presets.hpp>
#include <tilewright/core/lds/layout_solver.hpp>
#include <tilewright/core/lds/lds_legality.hpp>

namespace tilewright {

/// The proof: what each use costs on each target, by the analysis of the layout's descriptor, which knows nothing of
/// the search; accesses that check_lds_access refuses are an error. For each target in order, each use in order.
template <class... Archs, class... Uses>
constexpr auto analyze_choice(const lds_layout_choice& choice, const Uses&... uses) {
  array<lds_access_analysis, sizeof...(Archs) * sizeof...(Uses)> result{};
  const arch::target* const targets[] = {&Archs::value...};
  const lds_use all_uses[] = {uses...};
  const tensor_graph graph = detail::make_lds_graph(choice.layout);
  for (index_t i = 0; i < result.size(); ++i) {
    const lds_use& use = all_uses[i % index_t(sizeof...(Uses))];
    const detail::examined_access found = detail::examine(*targets[i / index_t(sizeof...(Uses))], graph,
                                                          use.distribution, choice.layout.tile.element_bytes, use.kind);
    detail::require_layout(found.legality);
    result[i] = found.analysis;
  }
  return result;
}

namespace detail {

/// What all uses cost on all targets together, each by the whole block once, disputed facts in the worse reading.
struct lds_uses_cost {
  index_t cycles = 0;        // 0: some use cannot be made on some target
  index_t phases = 0;        // cycles without conflicts
  index_t executions = 0;    // of instructions, by waves
  index_t worst_degree = 0;  // of any phase

  constexpr bool is_below(const lds_uses_cost& other) const {
    return cycles < other.cycles || (cycles == other.cycles && executions < other.executions);
  }
};

/// padded_layout(tile, pad_bytes) and its cost.
struct lds_padding_choice {
  index_t pad_bytes = 0;
  lds_uses_cost cost;
};

/// The cost of a layout without run-time values.
constexpr lds_uses_cost cost_of_uses(const arch::target* const* targets, index_t num_targets,
                                     const tensor_graph& layout, index_t element_bytes, const lds_use* uses,
                                     index_t num_uses) {
  lds_uses_cost cost;
  for (index_t i = 0; i < num_targets * num_uses; ++i) {
    const lds_use& use = uses[i / num_targets];
    const examined_access found = examine(*targets[i % num_targets], layout, use.distribution, element_bytes, use.kind);
    if (!found.legality.is_legal()) return {};
    cost.cycles += found.analysis.cycles;
    cost.phases += found.analysis.phases;
    cost.executions += found.analysis.executions;
    cost.worst_degree = max(cost.worst_degree, found.analysis.worst_degree);
  }
  return cost;
}

}  // namespace detail

/// The narrowest pad of those that cost the fewest cycles and, among these, the fewest instructions: a pad that is
/// narrower than a vector makes more and narrower ones. cost.cycles is 0 if no pad is legal: see check_lds_access.
constexpr detail::lds_padding_choice choose_lds_padding(const arch::target* const* targets, index_t num_targets,
                                                        const lds_tile& tile, const lds_use* uses, index_t num_uses) {
  detail::lds_padding_choice best;
  detail::lds_uses_cost least;  // with whole vectors and without conflicts
  for (index_t pad = 0; pad < 256 && (pad == 0 || least.is_below(best.cost));
       pad += max(arch::lds_bank_bytes, tile.element_bytes)) {
    const detail::lds_uses_cost cost =
        detail::cost_of_uses(targets, num_targets, padded_layout(tile, pad), tile.element_bytes, uses, num_uses);
    if (pad == 0) least = cost, least.cycles = cost.phases;
    if (cost.cycles > 0 && (best.cost.cycles == 0 || cost.is_below(best.cost))) best = {pad, cost};
  }
  return best;
}

/// choose_lds_padding for targets that are named as types: choose_lds_padding<arch::gfx942, arch::gfx950>(tile,
/// uses...).
template <class... Archs, class... Uses>
constexpr detail::lds_padding_choice choose_lds_padding(const lds_tile& tile, const Uses&... uses) {
  const arch::target* const targets[] = {&Archs::value...};
  const lds_use all_uses[] = {uses...};
  return choose_lds_padding(targets, sizeof...(Archs), tile, all_uses, sizeof...(Uses));
}

}  // namespace tilewright
