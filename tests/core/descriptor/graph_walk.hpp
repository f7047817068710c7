// SPDX-License-Identifier: MIT
// Moves of coordinates for graphs that are known only at run time: what move_tensor_coordinate is compared with.
#pragma once

#include <tilewright/core/descriptor/tensor_graph.hpp>

namespace tilewright {

/// Moves hidden, which lower_anywhere or an earlier move has made, by a step along the top dimensions: what
/// move_tensor_coordinate does, for graphs known only at run time.
TILEWRIGHT_HD constexpr void move_all(const tensor_graph& graph, const index_t* values, const index_t* step,
                                      index_t* hidden) {
  index_t hidden_step[tensor_graph::max_hidden] = {};
  for (index_t i = 0; i < graph.ndim(); ++i) {
    hidden[graph.top[i]] += step[i];
    hidden_step[graph.top[i]] = step[i];
  }
  for (index_t n = graph.nodes.size(); n-- > 0;) {
    const tensor_graph::node& node = graph.nodes[n];
    const detail::transform_parameters p = node.parameters(values);
    index_t up[tensor_graph::node::max_dims] = {}, up_step[tensor_graph::node::max_dims] = {};
    index_t low[tensor_graph::node::max_dims] = {}, low_step[tensor_graph::node::max_dims] = {};
    for (index_t i = 0; i < node.upper.size(); ++i)
      up[i] = hidden[node.upper[i]], up_step[i] = hidden_step[node.upper[i]];
    for (index_t i = 0; i < node.lower.size(); ++i) low[i] = hidden[node.lower[i]];
    detail::with_rules(node.spec, [&](auto rules) {
      detail::move_lower(rules, p.data(), node.lower.size(), node.upper.size(), up, up_step, low, low_step);
      return 0;
    });
    for (index_t i = 0; i < node.lower.size(); ++i) {
      hidden[node.lower[i]] += low_step[i];
      hidden_step[node.lower[i]] = low_step[i];
    }
  }
}

/// Whether the length of every dimension fits into 32 bits.
TILEWRIGHT_HD constexpr bool lengths_fit(const tensor_graph& graph, const index_t* values) {
  for (const tensor_graph::node& node : graph.nodes) {
    const detail::transform_parameters p = node.parameters(values);
    if (!detail::with_rules(node.spec, [&](auto rules) { return rules.fits(p.data(), node.width()); })) return false;
  }
  return true;
}

}  // namespace tilewright
