// SPDX-License-Identifier: MIT
// The static part of a descriptor: which transforms join which dimensions, as one structural value.
#pragma once

#include <tilewright/core/transform/apply.hpp>

namespace tilewright {

/// Transforms from the bottom (memory) to the top (what the user indexes).
struct tensor_graph {
  static constexpr index_t max_nodes = 16;   ///< transforms at most
  static constexpr index_t max_top = 10;     ///< upper dimensions at most
  static constexpr index_t max_hidden = 48;  ///< ids of dimensions at most

  /// One transform. Dimensions are numbered through the whole graph ("hidden" dimensions).
  struct node {
    static constexpr index_t max_dims = transform_spec::max_dims;  ///< on either side of a transform

    transform_spec spec;      ///< the transform
    index_t first_value = 0;  ///< where the values of its run-time parameters begin
    /// Ids of the dimensions on both sides.
    inplace_vector<signed char, max_dims> lower, upper;

    /// Dimensions on the side that has several.
    TILEWRIGHT_HD constexpr index_t width() const { return max(lower.size(), upper.size()); }

    /// Index of run-time parameter i among the values; 0 for a constant.
    TILEWRIGHT_HD constexpr index_t value_slot(index_t i) const {
      if (spec.parameters[i] != dynamic) return 0;
      index_t slot = first_value;
      for (index_t j = 0; j < i; ++j) slot += spec.parameters[j] == dynamic;
      return slot;
    }

    /// All parameters, run-time values filled in.
    TILEWRIGHT_HD constexpr detail::transform_parameters parameters(const index_t* values) const {
      detail::transform_parameters p{};
      index_t next = first_value;
      for (index_t i = 0; i < spec.parameters.size(); ++i) {
        p[i] = spec.parameters[i] == dynamic ? values[next++] : spec.parameters[i];
      }
      return p;
    }
    friend constexpr bool operator==(const node&, const node&) = default;
  };

  inplace_vector<node, max_nodes> nodes;     ///< from memory up
  inplace_vector<signed char, max_top> top;  ///< hidden ids of the user's dimensions
  index_t num_bottom = 1;                    ///< dimensions of memory: ids from 0
  index_t num_hidden = 1;                    ///< ids in use
  index_t num_values = 0;                    ///< run-time parameters of all nodes

  /// Upper dimensions.
  TILEWRIGHT_HD constexpr index_t ndim() const { return top.size(); }
  friend constexpr bool operator==(const tensor_graph&, const tensor_graph&) = default;
};

namespace detail {

/// The graph of one transform of memory.
TILEWRIGHT_HD constexpr tensor_graph single_node_graph(const transform_spec& spec) {
  tensor_graph graph;
  tensor_graph::node node{spec, 0, {}, {}};
  node.lower.push_back(0);
  for (signed char i = 0; i < spec.num_upper; ++i) {
    node.upper.push_back(static_cast<signed char>(1 + i));
    graph.top.push_back(static_cast<signed char>(1 + i));
  }
  graph.nodes.push_back(node);
  graph.num_hidden = 1 + spec.num_upper;
  graph.num_values = spec.num_dynamic();
  return graph;
}

/// The node that makes a hidden dimension, and its place among that node's upper dimensions;
/// node -1 for a bottom dimension.
struct dimension_source {
  index_t node = -1, upper = 0;
};

TILEWRIGHT_HD constexpr dimension_source find_source(const tensor_graph& graph, index_t id) {
  for (index_t n = 0; n < graph.nodes.size(); ++n) {
    for (index_t i = 0; i < graph.nodes[n].upper.size(); ++i) {
      if (graph.nodes[n].upper[i] == id) return {n, i};
    }
  }
  return {};
}

/// Whether every transform says that the element of an index exists.
/// hidden: from lower_all, for an index inside the lengths.
TILEWRIGHT_HD constexpr bool is_valid_everywhere(const tensor_graph& graph, const index_t* values,
                                                 const index_t* hidden) {
  for (const tensor_graph::node& node : graph.nodes) {
    const transform_parameters p = node.parameters(values);
    index_t up[tensor_graph::node::max_dims] = {};
    for (index_t i = 0; i < node.upper.size(); ++i) up[i] = hidden[node.upper[i]];
    if (!with_rules(node.spec, [&](auto rules) { return rules.is_valid(p.data(), node.width(), up); })) return false;
  }
  return true;
}

/// Whether an index inside of the lengths may have no element.
TILEWRIGHT_HD constexpr bool may_be_invalid(const tensor_graph& graph) {
  for (const tensor_graph::node& node : graph.nodes) {
    if (detail::may_be_invalid_kind(node.spec.kind, detail::every_kind{})) return true;
  }
  return false;
}

/// Whether index zero of a linear graph may have an offset other than zero; of a node, another lower index.
TILEWRIGHT_HD constexpr bool has_constant_term(const tensor_graph::node& node) {
  return with_rules(node.spec,
                    [&](auto rules) { return rules.has_constant_term(node.spec.parameters.begin(), node.width()); });
}
TILEWRIGHT_HD constexpr bool has_constant_term(const tensor_graph& graph) {
  for (const tensor_graph::node& node : graph.nodes) {
    if (has_constant_term(node)) return true;
  }
  return false;
}

/// What is known to divide the length of a node's upper dimension where only run time knows it, given the same of its
/// lower dimensions. Runs do, except those of padded dimensions.
TILEWRIGHT_HD constexpr index_t divisor_of_length(const tensor_graph::node& node, const index_t* lower_divisors,
                                                  index_t run) {
  const auto& p = node.spec.parameters;
  const auto known = [&](index_t i) { return p[i] == dynamic ? 1 : p[i]; };
  switch (node.spec.kind) {
    case transform_kind::pass_through: return lower_divisors[0];
    case transform_kind::pad: return gcd(gcd(p[0] == dynamic ? lower_divisors[0] : p[0], known(1)), known(2));
    default: return run;
  }
}

/// Whether a vector along the node's upper dimension must stay inside of a lower length known only at run time.
TILEWRIGHT_HD constexpr bool merges_run_time_length(const tensor_graph::node& node) {
  return (node.spec.kind == transform_kind::merge || node.spec.kind == transform_kind::merge_magic) &&
         node.spec.parameters[node.lower.size() - 1] == dynamic;
}

/// Length of a hidden dimension; `dynamic` if a run-time value decides, or if it is a bottom dimension.
TILEWRIGHT_HD constexpr index_t hidden_length(const tensor_graph& graph, index_t id) {
  const dimension_source source = find_source(graph, id);
  if (source.node < 0) return dynamic;
  const tensor_graph::node& node = graph.nodes[source.node];
  return with_rules(node.spec, [&](auto rules) {
    return rules.upper_length(node.spec.parameters.begin(), node.width(), source.upper);
  });
}

/// Fills in the lower indices of a node from its upper ones; p: its parameters.
TILEWRIGHT_HD constexpr void lower_through(const tensor_graph::node& node, const index_t* p, index_t* hidden) {
  index_t up[tensor_graph::node::max_dims] = {}, low[tensor_graph::node::max_dims] = {};
  for (index_t i = 0; i < node.upper.size(); ++i) up[i] = hidden[node.upper[i]];
  with_rules(node.spec, [&](auto rules) { rules.lower(p, node.width(), up, low); });
  for (index_t i = 0; i < node.lower.size(); ++i) hidden[node.lower[i]] = low[i];
}

/// Fills hidden, the index of every hidden dimension, from the top dimensions downwards:
/// for graphs known only at run time.
TILEWRIGHT_HD constexpr void lower_all(const tensor_graph& graph, const index_t* values, const index_t* index,
                                       index_t* hidden) {
  for (index_t i = 0; i < graph.ndim(); ++i) hidden[graph.top[i]] = index[i];
  for (index_t n = graph.nodes.size(); n-- > 0;) {
    const tensor_graph::node& node = graph.nodes[n];
    transform_parameters filled_in;
    const index_t* p = node.spec.parameters.begin();
    if (graph.num_values > 0) {
      filled_in = node.parameters(values);
      p = filled_in.data();
    }
    lower_through(node, p, hidden);
  }
}

/// For each hidden dimension the aligned contiguous run: in any block of that many consecutive indices that begins at a
/// multiple of it, either no element exists or all do, and their offsets grow by 1 from a multiple of it.
/// It bounds vectors.
TILEWRIGHT_HD constexpr array<index_t, tensor_graph::max_hidden> contiguous_runs(const tensor_graph& graph,
                                                                                 index_t bottom_run) {
  array<index_t, tensor_graph::max_hidden> runs{}, divisors{};
  for (index_t i = 0; i < graph.num_bottom; ++i) runs[i] = bottom_run, divisors[i] = 1;
  for (const tensor_graph::node& node : graph.nodes) {
    index_t low[tensor_graph::node::max_dims] = {}, up[tensor_graph::node::max_dims] = {},
            low_divisors[tensor_graph::node::max_dims] = {};
    for (index_t i = 0; i < node.lower.size(); ++i) {
      low_divisors[i] = divisors[node.lower[i]];
      low[i] = runs[node.lower[i]];
      if (merges_run_time_length(node)) low[i] = gcd(low[i], low_divisors[i]);
    }
    with_rules(node.spec, [&](auto rules) { rules.run(node.spec.parameters.begin(), node.width(), low, up); });
    for (index_t i = 0; i < node.upper.size(); ++i) {
      runs[node.upper[i]] = up[i];
      divisors[node.upper[i]] = divisor_of_length(node, low_divisors, up[i]);
    }
  }
  return runs;
}

/// Whether the offset is a linear function of the index, with coefficients that do not depend on the index.
TILEWRIGHT_HD constexpr bool is_linear(const tensor_graph& graph) {
  for (const tensor_graph::node& node : graph.nodes) {
    if (linear_rule_of(node.spec.kind, every_kind{}) == linear_rule::none) return false;
  }
  return true;
}

/// Whether every bit of the offset is an exclusive or of bits of the index.
TILEWRIGHT_HD constexpr bool is_f2_linear(const tensor_graph& graph) {
  for (const tensor_graph::node& node : graph.nodes) {
    if (!with_rules(node.spec,
                    [&](auto rules) { return rules.f2_linear(node.spec.parameters.begin(), node.width()); })) {
      return false;
    }
  }
  return true;
}

}  // namespace detail

}  // namespace tilewright
