// SPDX-License-Identifier: MIT
// A tensor descriptor: maps an index to the offset of its element in memory.
#pragma once

#include <tilewright/descriptor/tensor_graph.hpp>

namespace tilewright {

namespace detail {

/// Parameter I of a node: a constant, or one of the run-time values.
template <graph_node Node, index_t I>
TILEWRIGHT_HD constexpr index_t parameter(const index_t* values) {
  constexpr index_t value = Node.spec.parameters[I];
  if constexpr (value != dynamic) {
    return value;
  } else {
    return values[number<Node.value_slot(I)>::value];
  }
}

/// One step from top to bottom. Everything is expanded here, and number<> makes constants of what the graph says: a node must
/// not survive as an object in the generated code.
template <graph_node Node, index_t... Ps, index_t... Us, index_t... Ls>
TILEWRIGHT_HD constexpr void lower_node(const index_t* values, index_t* hidden, std::integer_sequence<index_t, Ps...>,
                                        std::integer_sequence<index_t, Us...>, std::integer_sequence<index_t, Ls...>) {
  const index_t p[] = {parameter<Node, Ps>(values)...};
  const index_t up[] = {hidden[number<Node.upper[Us]>::value]..., 0};
  index_t low[sizeof...(Ls)] = {};
  transform_rules<Node.spec.kind>::lower(p, number<Node.width()>::value, up, low);
  ((hidden[number<Node.lower[Ls]>::value] = low[Ls]), ...);
}

template <graph_node Node>
TILEWRIGHT_HD constexpr void lower_node(const index_t* values, index_t* hidden) {
  lower_node<Node>(values, hidden, std::make_integer_sequence<index_t, Node.spec.parameters.size()>{},
                   std::make_integer_sequence<index_t, Node.upper.size()>{},
                   std::make_integer_sequence<index_t, Node.lower.size()>{});
}

template <tensor_graph Graph, index_t... Is>
TILEWRIGHT_HD constexpr void lower_nodes(const index_t* values, index_t* hidden, std::integer_sequence<index_t, Is...>) {
  (lower_node<Graph.nodes[Graph.nodes.size() - 1 - Is]>(values, hidden), ...);
}

template <graph_node Node, index_t... Ps>
TILEWRIGHT_HD constexpr bool node_is_valid(const index_t* values, const index_t* hidden, std::integer_sequence<index_t, Ps...>) {
  if constexpr (Node.spec.kind == transform_kind::pad) {
    const index_t p[] = {parameter<Node, Ps>(values)...};
    return transform_rules<transform_kind::pad>::is_valid(p, hidden + number<Node.upper[0]>::value);
  } else {
    return true;
  }
}

/// Length of upper dimension I of a node.
template <graph_node Node, index_t I, index_t... Ps>
TILEWRIGHT_HD constexpr index_t node_length(const index_t* values, std::integer_sequence<index_t, Ps...>) {
  const index_t p[] = {parameter<Node, Ps>(values)...};
  return transform_rules<Node.spec.kind>::upper_length(p, number<Node.width()>::value, I);
}

}  // namespace detail

/// Graph holds what is static; run-time lengths and strides are members. Offsets and lengths count elements. Offsets are 32-bit:
/// larger tensors are reached through windows, which fold their origin into the pointer.
template <tensor_graph Graph>
struct tensor_descriptor {
  static constexpr tensor_graph graph = Graph;
  static constexpr index_t ndim = Graph.ndim();
  using index_type = multi_index<ndim>;
  using hidden_index = array<index_t, Graph.num_hidden>;

  array<index_t, Graph.num_values> values;
  long_index_t element_space_size;

  TILEWRIGHT_HD static constexpr index_t get_num_of_dimension() { return ndim; }

  /// Everything is known at compile time.
  TILEWRIGHT_HD static constexpr bool is_static() { return Graph.num_values == 0; }

  /// Index of every hidden dimension.
  TILEWRIGHT_HD constexpr hidden_index calculate_hidden_index(const index_type& index) const {
    hidden_index hidden{};
    [&]<index_t... Is>(std::integer_sequence<index_t, Is...>) TILEWRIGHT_INLINE_LAMBDA {
      ((hidden[number<Graph.top[Is]>::value] = index[Is]), ...);
    }(std::make_integer_sequence<index_t, ndim>{});
    detail::lower_nodes<Graph>(values.data(), hidden.data(), std::make_integer_sequence<index_t, Graph.nodes.size()>{});
    return hidden;
  }

  /// Offset in elements of the element at an index.
  TILEWRIGHT_HD constexpr index_t calculate_offset(const index_type& index) const { return calculate_hidden_index(index)[0]; }

  /// Whether the index lies inside the lengths and outside of every pad.
  TILEWRIGHT_HD constexpr bool is_valid(const index_type& index) const {
    const auto lengths = get_lengths();
    bool valid = true;
    for (index_t i = 0; i < ndim; ++i) valid = valid && unsigned(index[i]) < unsigned(lengths[i]);
    if constexpr (has_pads()) {
      const hidden_index hidden = calculate_hidden_index(index);
      unroll<Graph.nodes.size()>([&](auto n) {
        constexpr index_t parameters = Graph.nodes[n].spec.parameters.size();
        valid = valid && detail::node_is_valid<Graph.nodes[n]>(values.data(), hidden.data(),
                                                               std::make_integer_sequence<index_t, parameters>{});
      });
    }
    return valid;
  }

  TILEWRIGHT_HD static constexpr bool has_pads() {
    for (index_t n = 0; n < Graph.nodes.size(); ++n) {
      if (Graph.nodes[n].spec.kind == transform_kind::pad) return true;
    }
    return false;
  }

  /// Length of dimension I: number<> when it is static, an index_t otherwise.
  template <index_t I>
  TILEWRIGHT_HD constexpr auto get_length() const {
    static_assert(0 <= I && I < ndim, "tensor_descriptor: there is no such dimension");
    constexpr index_t length = hidden_length(Graph, Graph.top[I]);
    if constexpr (length != dynamic) {
      return number<length>{};
    } else {
      constexpr dimension_source source = find_source(Graph, Graph.top[I]);
      constexpr index_t parameters = Graph.nodes[source.node].spec.parameters.size();
      return detail::node_length<Graph.nodes[source.node], source.upper>(values.data(),
                                                                         std::make_integer_sequence<index_t, parameters>{});
    }
  }

  TILEWRIGHT_HD constexpr multi_index<ndim> get_lengths() const {
    multi_index<ndim> lengths{};
    unroll<ndim>([&](auto i) { lengths[i] = get_length<i.value>(); });
    return lengths;
  }

  /// One more than the largest offset of a valid index.
  TILEWRIGHT_HD constexpr long_index_t get_element_space_size() const { return element_space_size; }

  friend constexpr bool operator==(const tensor_descriptor&, const tensor_descriptor&) = default;
};

template <class T>
inline constexpr bool is_tensor_descriptor_v = false;
template <tensor_graph Graph>
inline constexpr bool is_tensor_descriptor_v<tensor_descriptor<Graph>> = true;
template <class T>
concept TensorDescriptor = is_tensor_descriptor_v<T>;

}  // namespace tilewright
