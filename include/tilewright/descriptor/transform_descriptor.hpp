// SPDX-License-Identifier: MIT
// Puts transforms on top of a descriptor: the way every derived layout is made.
#pragma once

#include <tilewright/descriptor/make_descriptor.hpp>

namespace tilewright {

namespace detail {

enum class chain_fault {
  none,
  too_many_nodes,
  lower_count,
  upper_count,
  lower_id,
  lower_twice,
  lower_missing,
  upper_id,
  length
};

/// The graph with more nodes, or what is wrong. For a length that does not fit: the old dimension, its length, the transform's.
struct chained_graph {
  tensor_graph graph;
  chain_fault fault = chain_fault::none;
  index_t dimension = -1, length = 0, transform_length = 0;
};

struct dimension_ids {
  inplace_vector<signed char, graph_node::max_dims> ids;
};

template <index_t... Is>
TILEWRIGHT_HD constexpr dimension_ids ids_of(sequence<Is...>) {
  static_assert(sizeof...(Is) <= graph_node::max_dims,
                "transform_tensor_descriptor: a sequence lists more dimensions than a transform may have");
  dimension_ids result;
  (result.ids.push_back(static_cast<signed char>(Is)), ...);
  return result;
}

template <index_t N>
TILEWRIGHT_HD constexpr chained_graph chain(const tensor_graph& old, const array<transform_spec, N>& specs,
                                            const array<dimension_ids, N>& lower,
                                            const array<dimension_ids, N>& upper) {
  chained_graph result{old};
  tensor_graph& graph = result.graph;
  const auto fail = [&](chain_fault fault, index_t dimension = -1, index_t length = 0, index_t transform_length = 0) {
    return chained_graph{old, fault, dimension, length, transform_length};
  };
  index_t num_top = 0;
  for (index_t t = 0; t < N; ++t) num_top += upper[t].ids.size();
  if (num_top > tensor_graph::max_top || old.nodes.size() + N > tensor_graph::max_nodes ||
      old.num_hidden + num_top > tensor_graph::max_hidden) {
    return fail(chain_fault::too_many_nodes);
  }
  graph.top = {};
  for (index_t i = 0; i < num_top; ++i) graph.top.push_back(-1);

  array<bool, tensor_graph::max_top> used{};
  for (index_t t = 0; t < N; ++t) {
    graph_node node{specs[t], graph.num_values, {}, {}};
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
      const index_t want = with_rules(specs[t].kind, [&](auto rules) {
        return rules.lower_length(specs[t].parameters.begin(), max<index_t>(specs[t].num_lower, specs[t].num_upper), i);
      });
      if (want >= 0 && have != dynamic && have != want) return fail(chain_fault::length, id, have, want);
    }
    const bool renames =
        specs[t].kind == transform_kind::pass_through;  // needs no node: the dimension goes on under its old number
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

/// Named in a failed static_assert, so that the message has the number.
template <index_t Dimension>
inline constexpr bool is_dimension_used_well = false;

template <chain_fault Fault, index_t Dimension, index_t Length, index_t TransformLength>
TILEWRIGHT_HD constexpr void require_sound_chain() {
  if constexpr (Fault == chain_fault::too_many_nodes) {
    static_assert(Fault == chain_fault::none,
                  "transform_tensor_descriptor: more transforms or dimensions than a descriptor holds");
  } else if constexpr (Fault == chain_fault::lower_count) {
    static_assert(
        Length == TransformLength,
        "transform_tensor_descriptor: a transform needs another number of lower dimensions than its sequence lists");
  } else if constexpr (Fault == chain_fault::upper_count) {
    static_assert(
        Length == TransformLength,
        "transform_tensor_descriptor: a transform makes another number of upper dimensions than its sequence lists");
  } else if constexpr (Fault == chain_fault::lower_id) {
    static_assert(is_dimension_used_well<Dimension>,
                  "transform_tensor_descriptor: a lower dimension id is not a dimension of the descriptor");
  } else if constexpr (Fault == chain_fault::lower_twice) {
    static_assert(is_dimension_used_well<Dimension>,
                  "transform_tensor_descriptor: a dimension of the descriptor is used by two transforms");
  } else if constexpr (Fault == chain_fault::lower_missing) {
    static_assert(is_dimension_used_well<Dimension>,
                  "transform_tensor_descriptor: a dimension of the descriptor is used by no transform; pass it through "
                  "or freeze it");
  } else if constexpr (Fault == chain_fault::upper_id) {
    static_assert(is_dimension_used_well<Dimension>,
                  "transform_tensor_descriptor: the upper dimension ids must be 0, 1, ... with each used once");
  } else if constexpr (Fault == chain_fault::length) {
    static_assert(Length == TransformLength,
                  "transform_tensor_descriptor: the length given to a transform is not the length of the dimension it "
                  "is applied to");
  }
}

}  // namespace detail

/// The descriptor seen through transforms. Transform i takes the old dimensions that the i-th sequence of `LowerIds` lists and
/// makes the new dimensions of the i-th sequence of `UpperIds`. Every old dimension is used once; new ids are 0, 1, ... .
template <tensor_graph Graph, transform_spec... Specs, class... LowerIds, class... UpperIds>
TILEWRIGHT_HD constexpr auto transform_tensor_descriptor(const tensor_descriptor<Graph>& descriptor,
                                                         const tuple<coordinate_transform<Specs>...>& transforms,
                                                         tuple<LowerIds...>, tuple<UpperIds...>) {
  static_assert(sizeof...(Specs) == sizeof...(LowerIds) && sizeof...(Specs) == sizeof...(UpperIds),
                "transform_tensor_descriptor: one lower and one upper sequence is needed for each transform");
  constexpr index_t n = sizeof...(Specs);
  constexpr detail::chained_graph chained =
      detail::chain<n>(Graph, {Specs...}, {detail::ids_of(LowerIds{})...}, {detail::ids_of(UpperIds{})...});
  detail::require_sound_chain<chained.fault, chained.dimension, chained.length, chained.transform_length>();
  tensor_descriptor<chained.graph> result{{}, descriptor.element_space_size};
  for (index_t i = 0; i < Graph.num_values; ++i) result.values[i] = descriptor.values[i];
  index_t next = Graph.num_values;
  unroll<n>([&](auto t) {
    const auto& values = transforms.template get<t.value>().values;
    for (index_t i = 0; i < values.size(); ++i) result.values[next++] = values[i];
  });
  return result;
}

}  // namespace tilewright
