// SPDX-License-Identifier: MIT
// A tensor adaptor: maps an index of its top dimensions to one of its bottom dimensions.
#pragma once

#include <tilewright/core/descriptor/tensor_graph.hpp>

namespace tilewright {

namespace detail {

/// A parameter: a constant, or the run-time value in a slot. Called with constants.
TILEWRIGHT_HD constexpr index_t parameter(index_t value, index_t slot, const index_t* values) {
  return value != dynamic ? value : values[slot];
}

template <tensor_graph::node Node>
using parameter_sequence = make_sequence<Node.spec.parameters.size()>;

template <const index_function* Function>
inline constexpr index_function function_v = *Function;

template <transform_kind Kind, const index_function* Function>
TILEWRIGHT_HD constexpr auto rules_of() {
  if constexpr (Kind == transform_kind::functor) {
    return make_rules<Kind>(function_v<Function>);
  } else {
    return make_rules<Kind>();
  }
}

/// One step from top to bottom. Everything is expanded here, and constant() makes constants of what the graph says: a
/// node must not survive as an object in the generated code. Strides and merges are one expression, without arrays and
/// loops for the compiler to take apart; not so swizzles, whose bits it then combines in ways that cost registers. In
/// the others arrays have one element more than they need, because some need none.
template <tensor_graph::node Node, index_t... Ps, index_t... Us, index_t... Ls>
TILEWRIGHT_HD constexpr void lower_node(const index_t* values, index_t* hidden, sequence<Ps...>, sequence<Us...>,
                                        sequence<Ls...>) {
  using enum transform_kind;
  constexpr transform_kind kind = Node.spec.kind;
  constexpr index_t n = Node.width();
  if constexpr (kind == embed) {
    unsigned sum = unsigned(parameter(constant(Node.spec.parameters[2 * n]), constant(Node.value_slot(2 * n)), values));
    ((sum += unsigned(hidden[constant(Node.upper[Us])]) *
             unsigned(parameter(constant(Node.spec.parameters[n + Us]), constant(Node.value_slot(n + Us)), values))),
     ...);
    hidden[constant(Node.lower[0])] = index_t(sum);
  } else if constexpr (kind == merge && Node.spec.num_dynamic() == 0) {
    index_t rest = hidden[constant(Node.upper[0])];
    ((hidden[constant(Node.lower[n - 1 - Ls])] =
          Ls == n - 1 ? rest : tilewright::modulo(rest, constant(Node.spec.parameters[n - 1 - Ls])),
      rest = divide(rest, constant(Node.spec.parameters[n - 1 - Ls]))),
     ...);
  } else {
    const index_t p[] = {parameter(constant(Node.spec.parameters[Ps]), constant(Node.value_slot(Ps)), values)..., 0};
    const index_t up[] = {hidden[constant(Node.upper[Us])]..., 0};
    index_t low[sizeof...(Ls) + 1] = {};
    rules_of<kind, Node.spec.function>().lower(p, n, up, low);
    ((hidden[constant(Node.lower[Ls])] = low[Ls]), ...);
  }
}

/// From the top dimensions, whose index is given, to the bottom.
template <tensor_graph Graph, index_t... Ts, index_t... Is>
TILEWRIGHT_HD constexpr void lower_nodes(const index_t* values, const index_t* index, index_t* hidden, sequence<Ts...>,
                                         sequence<Is...>) {
  constexpr index_t last = Graph.nodes.size() - 1;
  ((hidden[constant(Graph.top[Ts])] = index[Ts]), ...);
  (lower_node<Graph.nodes[last - Is]>(values, hidden, parameter_sequence<Graph.nodes[last - Is]>{},
                                      make_sequence<Graph.nodes[last - Is].upper.size()>{},
                                      make_sequence<Graph.nodes[last - Is].lower.size()>{}),
   ...);
}

template <tensor_graph::node Node, index_t... Ps, index_t... Us>
TILEWRIGHT_HD constexpr bool node_is_valid(const index_t* values, const index_t* hidden, sequence<Ps...>,
                                           sequence<Us...>) {
  if constexpr (decltype(rules_of<Node.spec.kind, Node.spec.function>())::may_be_invalid) {
    const index_t p[] = {parameter(constant(Node.spec.parameters[Ps]), constant(Node.value_slot(Ps)), values)..., 0};
    const index_t up[] = {hidden[constant(Node.upper[Us])]..., 0};
    return rules_of<Node.spec.kind, Node.spec.function>().is_valid(p, constant(Node.width()), up);
  } else {
    return true;
  }
}

template <tensor_graph Graph, index_t... Is>
TILEWRIGHT_HD constexpr bool nodes_are_valid(const index_t* values, const index_t* hidden, sequence<Is...>) {
  return (node_is_valid<Graph.nodes[Is]>(values, hidden, parameter_sequence<Graph.nodes[Is]>{},
                                         make_sequence<Graph.nodes[Is].upper.size()>{}) &&
          ...);
}

/// Length of upper dimension Nth of a node.
template <tensor_graph::node Node, index_t Nth, index_t... Ps>
TILEWRIGHT_HD constexpr index_t node_length(const index_t* values, sequence<Ps...>) {
  using rules = decltype(rules_of<Node.spec.kind, Node.spec.function>());
  if constexpr (rules::upper_lengths_are_parameters) {
    return parameter(constant(Node.spec.parameters[Nth]), constant(Node.value_slot(Nth)), values);
  }
  const index_t p[] = {parameter(constant(Node.spec.parameters[Ps]), constant(Node.value_slot(Ps)), values)..., 0};
  return rules_of<Node.spec.kind, Node.spec.function>().upper_length(p, constant(Node.width()), Nth);
}

template <tensor_graph::node Node, index_t... Ps>
TILEWRIGHT_HD constexpr bool node_fits(const index_t* values, sequence<Ps...>) {
  const index_t p[] = {parameter(constant(Node.spec.parameters[Ps]), constant(Node.value_slot(Ps)), values)..., 0};
  return rules_of<Node.spec.kind, Node.spec.function>().fits(p, constant(Node.width()));
}

template <tensor_graph Graph, index_t... Is>
TILEWRIGHT_HD constexpr bool nodes_fit(const index_t* values, sequence<Is...>) {
  return (node_fits<Graph.nodes[Is]>(values, parameter_sequence<Graph.nodes[Is]>{}) && ...);
}

}  // namespace detail

/// Graph holds what is static; run-time parameters are members.
template <tensor_graph Graph>
struct tensor_adaptor {
  static constexpr tensor_graph graph = Graph;   ///< its transforms
  static constexpr index_t ndim = Graph.ndim();  ///< upper dimensions
  using index_type = multi_index<ndim>;
  using bottom_index = multi_index<Graph.num_bottom>;
  using hidden_index = array<index_t, Graph.num_hidden>;

  array<index_t, Graph.num_values> values;  ///< of run-time parameters, in the order of the nodes

  /// Upper dimensions.
  TILEWRIGHT_HD static constexpr index_t get_num_of_top_dimension() { return ndim; }
  /// Lower dimensions.
  TILEWRIGHT_HD static constexpr index_t get_num_of_bottom_dimension() { return Graph.num_bottom; }

  /// Everything is known at compile time.
  TILEWRIGHT_HD static constexpr bool is_static() { return Graph.num_values == 0; }

  /// Index of every hidden dimension.
  TILEWRIGHT_HD constexpr hidden_index calculate_hidden_index(const index_type& index) const {
    hidden_index hidden{};
    detail::lower_nodes<Graph>(values.data(), index.data(), hidden.data(), make_sequence<ndim>{},
                               make_sequence<Graph.nodes.size()>{});
    return hidden;
  }

  /// Index of the bottom dimensions that belongs to an index of the top dimensions.
  TILEWRIGHT_HD constexpr bottom_index calculate_bottom_index(const index_type& index) const {
    const hidden_index hidden = calculate_hidden_index(index);
    bottom_index bottom{};
    unroll<Graph.num_bottom>([&](auto i) { bottom[i] = hidden[i]; });
    return bottom;
  }

  /// Whether the index is inside the lengths and its element exists; it does not in a pad, for instance.
  TILEWRIGHT_HD constexpr bool is_valid(const index_type& index) const {
    const auto lengths = get_lengths();
    bool valid = true;
    for (index_t i = 0; i < ndim; ++i) valid = valid && unsigned(index[i]) < unsigned(lengths[i]);
    if constexpr (has_pads()) {
      const hidden_index hidden = calculate_hidden_index(index);
      valid =
          valid && detail::nodes_are_valid<Graph>(values.data(), hidden.data(), make_sequence<Graph.nodes.size()>{});
    }
    return valid;
  }

  /// Whether an index inside of the lengths may have no element, because of a pad, an indexing or a functor.
  TILEWRIGHT_HD static constexpr bool has_pads() { return detail::may_be_invalid(Graph); }

  /// Length of dimension Nth: number<> when it is static, an index_t otherwise.
  template <index_t Nth>
  TILEWRIGHT_HD constexpr auto get_length() const {
    static_assert(0 <= Nth && Nth < ndim, "tensor_descriptor: there is no such dimension");
    constexpr index_t length = detail::hidden_length(Graph, Graph.top[Nth]);
    if constexpr (length != dynamic) {
      return number<length>{};
    } else {
      constexpr detail::dimension_source source = detail::find_source(Graph, Graph.top[Nth]);
      return detail::node_length<Graph.nodes[source.node], source.upper>(
          values.data(), detail::parameter_sequence<Graph.nodes[source.node]>{});
    }
  }

  /// Of the upper dimensions.
  TILEWRIGHT_HD constexpr index_type get_lengths() const {
    index_type lengths{};
    unroll<ndim>([&](auto i) { lengths[i] = get_length<i.value>(); });
    return lengths;
  }

  /// Whether all lengths and the offsets of all elements fit into 32 bits; of the tensor that is underneath, not only
  /// of the part that slices leave. Where it is false, calculate_offset is meaningful near the origin only.
  TILEWRIGHT_HD constexpr bool offsets_fit() const {
    return detail::nodes_fit<Graph>(values.data(), make_sequence<Graph.nodes.size()>{});
  }

  friend constexpr bool operator==(const tensor_adaptor&, const tensor_adaptor&) = default;
};

}  // namespace tilewright
