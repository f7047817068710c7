// SPDX-License-Identifier: MIT
// Random layouts as descriptors: moves, what is known at compile time against what is not,
// claims about all elements, adaptors.
#include "../core/descriptor/graph_walk.hpp"
#include "random_layout.hpp"

#include <tilewright/core/descriptor/properties.hpp>
#include <tilewright/core/descriptor/transform_descriptor.hpp>

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace tilewright::property {
namespace {

using hidden_indices = array<index_t, tensor_graph::max_hidden>;

/// Index of every hidden dimension, computed from scratch.
hidden_indices place(const tensor_graph& graph, const index_t* values, const indices& index) {
  hidden_indices hidden{};
  for (index_t i = 0; i < graph.ndim(); ++i) hidden[graph.top[i]] = index[std::size_t(i)];
  for (index_t n = graph.nodes.size(); n-- > 0;) {
    const tensor_graph::node& node = graph.nodes[n];
    const tilewright::detail::transform_parameters p = node.parameters(values);
    index_t up[tensor_graph::node::max_dims] = {}, low[tensor_graph::node::max_dims] = {};
    for (index_t i = 0; i < node.upper.size(); ++i) up[i] = hidden[node.upper[i]];
    detail::with_rules(node.spec, [&](auto rules) {
      detail::lower_anywhere(rules, p.data(), node.width(), up, low);
      return 0;
    });
    for (index_t i = 0; i < node.lower.size(); ++i) hidden[node.lower[i]] = low[i];
  }
  return hidden;
}

// A walk inside of the tensor, to its surroundings and back.
TEST(RandomLayouts, MovingIsMakingAnew) {
  check_property([](tape& choices) -> std::string {
    const random_layout layout = make_random_layout(choices);
    const indices& lengths = layout.model.lengths();
    indices index(lengths.size());
    hidden_indices hidden = place(layout.graph, layout.values.data(), index);
    for (int i = 0; i < 30; ++i) {
      indices step(lengths.size());
      for (std::size_t d = 0; d < step.size(); ++d) {
        const index_t target = choices.between(-lengths[d] / 2, lengths[d] + lengths[d] / 2);
        step[d] = choices.chance(3) ? 0 : choices.chance(3) ? choices.between(-1, 1) : target - index[d];
        index[d] += step[d];
      }
      move_all(layout.graph, layout.values.data(), step.data(), hidden.data());
      const std::string about = " after a step of " + text(step) + " to " + text(index) + " of" + layout.description;
      if (hidden != place(layout.graph, layout.values.data(), index)) return "another coordinate" + about;
      const std::optional<index_t> offset = layout.model.offset(index);
      if (offset && hidden[0] != *offset) return "another offset" + about;
    }
    return "";
  });
}

TEST(RandomLayouts, StaticAndRunTimeFormsAgree) {
  check_property([](tape& choices) -> std::string {
    const random_layout layout = make_random_layout(choices);
    const tensor_graph known = all_static(layout);
    const auto runs = detail::contiguous_runs(layout.graph, 1 << 10),
               runs_of_known = detail::contiguous_runs(known, 1 << 10);
    for (index_t d = 0; d < known.ndim(); ++d) {
      const index_t id = known.top[d], length = detail::hidden_length(known, id);
      if (length != layout.model.lengths()[std::size_t(d)]) return "length of" + layout.description;
      if (runs_of_known[id] % runs[id] != 0) return "a longer vector where less is known:" + layout.description;
    }
    if (detail::known_lengths(layout.graph, layout.values.data()) != detail::known_lengths(known, nullptr))
      return "run-time length of" + layout.description;
    if (detail::is_linear(known) != detail::is_linear(layout.graph)) return "linearity of" + layout.description;
    if (detail::is_f2_linear(layout.graph) && !detail::is_f2_linear(known))
      return "linearity in bits of" + layout.description;
    return for_each_index(layout.model.lengths(), [&](const indices& index) -> std::string {
      hidden_indices ours{}, theirs{};
      detail::lower_all(layout.graph, layout.values.data(), index.data(), ours.data());
      detail::lower_all(known, nullptr, index.data(), theirs.data());
      if (ours != theirs) return "index " + text(index) + " of" + layout.description;
      const bool exists = tilewright::detail::is_valid_everywhere(known, nullptr, theirs.data());
      return exists == layout.model.offset(index).has_value() ? "" : "validity of" + layout.description;
    });
  });
}

// Against a table of places.
TEST(RandomLayouts, SharedAndEmptyPlacesAreKnown) {
  check_property([](tape& choices) -> std::string {
    const random_layout layout = make_random_layout(choices);
    std::map<index_t, int> taken;
    bool unique = true;
    for_each_index(layout.model.lengths(), [&](const indices& index) -> std::string {
      const std::optional<index_t> offset = layout.model.offset(index);
      if (offset) unique = ++taken[*offset] == 1 && unique;
      return "";
    });
    const long_index_t end = taken.empty() ? 0 : taken.rbegin()->first + 1,
                       space = end + choices.one_of<index_t>({0, 0, 1});
    const bool exhaustive = long_index_t(taken.size()) == space;
    for (const tensor_graph& graph : {layout.graph, all_static(layout)}) {
      const auto census = detail::take_census(graph, layout.values.data(), space);
      if (census.is_unique != unique) return "uniqueness of" + layout.description;
      if (census.is_exhaustive != exhaustive)
        return "exhaustion of " + std::to_string(space) + " by" + layout.description;
    }
    return "";
  });
}

// A layout cut in two adaptors, joined again.
TEST(RandomLayouts, AdaptorsJoin) {
  check_property([](tape& choices) -> std::string {
    const random_layout layout = make_random_layout(choices);
    const std::vector<layer>& layers = layout.model.layers;
    const std::size_t cut = std::size_t(choices.between(1, index_t(layers.size())));
    const auto piece = [&](std::size_t begin, std::size_t end) {
      tensor_graph graph;
      graph.num_bottom = graph.num_hidden = layers[begin].num_lower;
      for (index_t i = 0; i < graph.num_bottom; ++i) graph.top.push_back(static_cast<signed char>(i));
      for (std::size_t l = begin; l < end; ++l) {
        const detail::chained_graph next = chained(graph, layers[l]);
        if (next.fault != detail::chain_fault::none) return detail::chained_graph{graph, next.fault};
        graph = next.graph;
      }
      return detail::chained_graph{graph};
    };
    if (cut == layers.size()) return "";
    const detail::chained_graph first = piece(0, cut), second = piece(cut, layers.size());
    if (first.fault != detail::chain_fault::none || second.fault != detail::chain_fault::none)
      return first.fault == detail::chain_fault::too_many_nodes || second.fault == detail::chain_fault::too_many_nodes
                 ? ""
                 : "a piece is refused:" + layout.description;
    const detail::chained_graph joined = detail::join(first.graph, second.graph);
    if (joined.fault == detail::chain_fault::too_many_nodes) return "";
    if (joined.fault != detail::chain_fault::none) return "refused:" + layout.description;
    return for_each_index(layout.model.lengths(), [&](const indices& index) -> std::string {
      hidden_indices whole{}, parts{};
      detail::lower_all(layout.graph, layout.values.data(), index.data(), whole.data());
      detail::lower_all(joined.graph, layout.values.data(), index.data(), parts.data());
      return whole[0] == parts[0] ? "" : "offset at " + text(index) + " of" + layout.description;
    });
  });
}

}  // namespace
}  // namespace tilewright::property
