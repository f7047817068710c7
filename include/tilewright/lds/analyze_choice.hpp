// SPDX-License-Identifier: MIT
// The proof of a layout that choose_lds_layout found.
#pragma once

#include <tilewright/lds/layout_solver.hpp>
#include <tilewright/lds/lds_legality.hpp>

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

}  // namespace tilewright
