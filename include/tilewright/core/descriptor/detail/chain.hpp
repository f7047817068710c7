// SPDX-License-Identifier: MIT
// Chains transforms onto a graph, and graphs onto each other; names what does not fit.
#pragma once

#include <tilewright/core/descriptor/tensor_graph.hpp>

namespace tilewright::detail {

enum class chain_fault {
  none,
  too_many_nodes,
  lower_count,
  upper_count,
  lower_id,
  lower_twice,
  lower_missing,
  upper_id,
  length,
  too_short,
  joint_count
};

/// The graph with more nodes, or what is wrong and a stand-in, so that layers above it compile and the fault is the
/// only error. For a length that does not fit: the old dimension, its length, the transform's.
struct chained_graph {
  tensor_graph graph;
  chain_fault fault = chain_fault::none;
  index_t dimension = -1;
  long_index_t length = 0, transform_length = 0;
};

/// The graph of a layer that was refused: as many dimensions as it should have, of lengths that fit whatever comes
/// next.
TILEWRIGHT_HD constexpr tensor_graph stand_in(index_t num_bottom, index_t ndim, index_t num_values) {
  tensor_graph graph;
  graph.num_bottom = graph.num_hidden = num_bottom;
  for (index_t i = 0; i < min(ndim, tensor_graph::max_top); ++i) {
    tensor_graph::node node{{transform_kind::replicate, 0, 1, {}, nullptr}, i, {}, {}};
    node.spec.parameters.push_back(dynamic);
    graph.top.push_back(static_cast<signed char>(graph.num_hidden++));
    node.upper.push_back(graph.top[i]);
    graph.nodes.push_back(node);
  }
  graph.num_values = max(num_values, graph.ndim());
  return graph;
}

/// Numbers of dimensions, as {0, 1}.
struct dimension_ids {
  inplace_vector<index_t, tensor_graph::node::max_dims> ids;

  template <IndexLike... Ids>
  TILEWRIGHT_HD constexpr dimension_ids(Ids... list) {
    (ids.push_back(list), ...);
  }
};

template <index_t... Is>
TILEWRIGHT_HD constexpr dimension_ids ids_of(sequence<Is...>) {
  static_assert(sizeof...(Is) <= tensor_graph::node::max_dims,
                "tensor transforms: a sequence lists more dimensions than a transform may have");
  return {Is...};
}

/// Why a length does not fit, and the one that is needed.
struct length_mismatch {
  chain_fault fault = chain_fault::none;
  long_index_t needed = 0;
};
/// Whether lower dimension i of a transform fits a dimension of length `have`.
TILEWRIGHT_HD constexpr length_mismatch compare_length(const transform_spec& spec, index_t i, index_t have) {
  if (have == dynamic) return {};
  const index_t* p = spec.parameters.begin();
  const index_t n = max(index_t(spec.num_lower), index_t(spec.num_upper));
  const index_t wanted = with_rules(spec, [&](auto rules) { return rules.lower_length(p, n, i); });
  if (wanted >= 0 && have != wanted) return {chain_fault::length, wanted};
  const long_index_t least = with_rules(spec, [&](auto rules) { return rules.least_lower_length(p, n, i); });
  if (have < least) return {chain_fault::too_short, least};
  return {};
}

template <index_t N>
TILEWRIGHT_HD constexpr chained_graph chain(const tensor_graph& old, const array<transform_spec, N>& specs,
                                            const array<dimension_ids, N>& lower,
                                            const array<dimension_ids, N>& upper) {
  chained_graph result{old};
  tensor_graph& graph = result.graph;
  index_t num_top = 0, num_values = old.num_values;
  for (index_t t = 0; t < N; ++t) {
    num_top += upper[t].ids.size();
    num_values += specs[t].num_dynamic();
  }
  const auto fail = [&](chain_fault fault, index_t dimension = -1, long_index_t length = 0, long_index_t needed = 0) {
    return chained_graph{stand_in(old.num_bottom, num_top, num_values), fault, dimension, length, needed};
  };
  if (num_top > tensor_graph::max_top || old.nodes.size() + N > tensor_graph::max_nodes ||
      old.num_hidden + num_top > tensor_graph::max_hidden) {
    return fail(chain_fault::too_many_nodes);
  }
  graph.top = {};
  for (index_t i = 0; i < num_top; ++i) graph.top.push_back(-1);

  array<bool, tensor_graph::max_top> used{};
  for (index_t t = 0; t < N; ++t) {
    tensor_graph::node node{specs[t], graph.num_values, {}, {}};
    if (lower[t].ids.size() != specs[t].num_lower)
      return fail(chain_fault::lower_count, t, lower[t].ids.size(), specs[t].num_lower);
    if (upper[t].ids.size() != specs[t].num_upper)
      return fail(chain_fault::upper_count, t, upper[t].ids.size(), specs[t].num_upper);
    for (index_t i = 0; i < lower[t].ids.size(); ++i) {
      const index_t id = lower[t].ids[i];
      if (id < 0 || id >= old.ndim()) return fail(chain_fault::lower_id, id);
      if (used[id]) return fail(chain_fault::lower_twice, id);
      used[id] = true;
      node.lower.push_back(old.top[id]);
      const index_t have = hidden_length(old, old.top[id]);
      const length_mismatch mismatch = compare_length(specs[t], i, have);
      if (mismatch.fault != chain_fault::none) return fail(mismatch.fault, id, have, mismatch.needed);
    }
    // A pass_through needs no node: the dimension goes on under its old number. At the bottom it is needed,
    // for the length.
    const bool renames = specs[t].kind == transform_kind::pass_through && node.lower[0] >= old.num_bottom;
    for (index_t i = 0; i < upper[t].ids.size(); ++i) {
      const index_t id = upper[t].ids[i];
      if (id < 0 || id >= num_top || graph.top[id] != -1) return fail(chain_fault::upper_id, id);
      graph.top[id] = renames ? node.lower[0] : static_cast<signed char>(graph.num_hidden++);
      node.upper.push_back(graph.top[id]);
    }
    graph.num_values += specs[t].num_dynamic();
    if (!renames) graph.nodes.push_back(node);
  }
  for (index_t i = 0; i < old.ndim(); ++i) {
    if (!used[i]) return fail(chain_fault::lower_missing, i);
  }
  return result;
}

/// The second graph on top of the first: its bottom dimensions are the first one's top dimensions.
TILEWRIGHT_HD constexpr chained_graph join(const tensor_graph& first, const tensor_graph& second) {
  const auto fail = [&](chain_fault fault, index_t dimension = -1, long_index_t length = 0, long_index_t needed = 0) {
    const tensor_graph graph = stand_in(first.num_bottom, second.ndim(), first.num_values + second.num_values);
    return chained_graph{graph, fault, dimension, length, needed};
  };
  if (first.ndim() != second.num_bottom) return fail(chain_fault::joint_count, -1, first.ndim(), second.num_bottom);
  if (first.nodes.size() + second.nodes.size() > tensor_graph::max_nodes ||
      first.num_hidden + second.num_hidden - second.num_bottom > tensor_graph::max_hidden) {
    return fail(chain_fault::too_many_nodes);
  }
  const auto renumbered = [&](index_t id) {
    return id < second.num_bottom ? first.top[id] : static_cast<signed char>(first.num_hidden + id - second.num_bottom);
  };
  chained_graph result{first};
  tensor_graph& graph = result.graph;
  for (tensor_graph::node node : second.nodes) {
    for (index_t i = 0; i < node.lower.size(); ++i) {
      const index_t joint = node.lower[i];
      node.lower[i] = renumbered(joint);
      if (joint >= second.num_bottom) continue;
      const index_t have = hidden_length(first, first.top[joint]);
      const length_mismatch mismatch = compare_length(node.spec, i, have);
      if (mismatch.fault != chain_fault::none) return fail(mismatch.fault, joint, have, mismatch.needed);
    }
    for (signed char& id : node.upper) id = renumbered(id);
    node.first_value += first.num_values;
    graph.nodes.push_back(node);
  }
  graph.top = second.top;
  for (signed char& id : graph.top) id = renumbered(id);
  graph.num_hidden += second.num_hidden - second.num_bottom;
  graph.num_values += second.num_values;
  return result;
}

/// As an index_t where it is one: compilers print it without a suffix.
template <long_index_t Length>
inline constexpr auto printable_v = detail::conditional_t<(Length <= largest_index), index_t, long_index_t>(Length);

/// Named in a failed static_assert, so that the message has the number.
template <index_t Dimension>
inline constexpr bool is_dimension_used_well = false;

template <chain_fault Fault, index_t Dimension, auto Length, auto TransformLength>
constexpr bool is_sound_chain() {
  if constexpr (Fault == chain_fault::too_many_nodes) {
    static_assert(Fault == chain_fault::none,
                  "tensor transforms: more transforms or dimensions than a descriptor holds");
  } else if constexpr (Fault == chain_fault::lower_count) {
    static_assert(Length == TransformLength,
                  "tensor transforms: a transform needs another number of lower dimensions than its sequence lists");
  } else if constexpr (Fault == chain_fault::upper_count) {
    static_assert(Length == TransformLength,
                  "tensor transforms: a transform makes another number of upper dimensions than its sequence lists");
  } else if constexpr (Fault == chain_fault::lower_id) {
    static_assert(is_dimension_used_well<Dimension>,
                  "tensor transforms: a lower dimension id is not a dimension of the descriptor");
  } else if constexpr (Fault == chain_fault::lower_twice) {
    static_assert(is_dimension_used_well<Dimension>,
                  "tensor transforms: a dimension of the descriptor is used by two transforms");
  } else if constexpr (Fault == chain_fault::lower_missing) {
    static_assert(
        is_dimension_used_well<Dimension>,
        "tensor transforms: a dimension of the descriptor is used by no transform; pass it through or freeze it");
  } else if constexpr (Fault == chain_fault::upper_id) {
    static_assert(is_dimension_used_well<Dimension>,
                  "tensor transforms: the upper dimension ids must be 0, 1, ... with each used once");
  } else if constexpr (Fault == chain_fault::length) {
    static_assert(
        Length == TransformLength,
        "tensor transforms: the length given to a transform is not the length of the dimension it is applied to");
  } else if constexpr (Fault == chain_fault::too_short) {
    static_assert(Length >= TransformLength,
                  "tensor transforms: a transform reaches beyond the end of the dimension it is applied to");
  } else if constexpr (Fault == chain_fault::joint_count) {
    static_assert(
        Length == TransformLength,
        "chain_tensor_adaptors: the lower adaptor needs as many top dimensions as the upper one has bottom dimensions");
  }
  return true;
}

}  // namespace tilewright::detail
