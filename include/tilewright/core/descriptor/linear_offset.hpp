// SPDX-License-Identifier: MIT
// Strides and constant term of a linear descriptor: offset(index) = constant term + sum of index[d] * stride[d].
#pragma once

#include <tilewright/core/descriptor/offset_analysis.hpp>
#include <tilewright/core/descriptor/tensor_adaptor.hpp>

namespace tilewright::detail {

/// `factor` elements times the run-time value in `slot`, or times 1 if the slot is -1. Called with constants.
TILEWRIGHT_HD constexpr long_index_t scaled(long_index_t factor, index_t slot, const index_t* values) {
  return slot < 0 ? factor : factor * values[slot];
}

/// Elements that one step along hidden dimension Id of a linear graph moves the offset.
template <tensor_graph Graph, index_t Id>
TILEWRIGHT_HD constexpr long_index_t hidden_stride(const index_t* values) {
  constexpr linear_step step = step_along_hidden(Graph, Id);
  if constexpr (step.slots.size() <= 1) {
    return scaled(constant(step.factor), constant(step.only_slot()), values);
  } else {
    return step.with_values(values);
  }
}

/// Elements that one step along dimension D of a linear descriptor moves the offset, in 64 bits.
template <index_t D, class Descriptor>
TILEWRIGHT_HD constexpr long_index_t linear_stride(const Descriptor& descriptor) {
  return hidden_stride<Descriptor::graph, Descriptor::graph.top[D]>(descriptor.values.data());
}

/// The lower index of a node of a linear graph where the upper ones are zero.
template <tensor_graph::node Node, index_t... Ps>
TILEWRIGHT_HD constexpr index_t lower_of_zero(const index_t* values, sequence<Ps...>) {
  const index_t p[] = {parameter(constant(Node.spec.parameters[Ps]), constant(Node.value_slot(Ps)), values)..., 0};
  const index_t zero[tensor_graph::node::max_dims] = {};
  index_t low[tensor_graph::node::max_dims] = {};
  rules_of<Node.spec.kind, Node.spec.function>().lower(p, constant(Node.width()), zero, low);
  return low[0];
}

/// What node N of a linear graph adds to every offset.
template <tensor_graph Graph, index_t N>
TILEWRIGHT_HD constexpr long_index_t constant_of_node(const index_t* values) {
  if constexpr (has_constant_term(Graph.nodes[N])) {
    return lower_of_zero<Graph.nodes[N]>(values, parameter_sequence<Graph.nodes[N]>{}) *
           hidden_stride<Graph, Graph.nodes[N].lower[0]>(values);
  } else {
    return 0;
  }
}

template <tensor_graph Graph, index_t... Ns>
TILEWRIGHT_HD constexpr long_index_t sum_of_constants(const index_t* values, sequence<Ns...>) {
  return (constant_of_node<Graph, Ns>(values) + ...);
}

/// Offset of index zero of a linear descriptor: not zero below left pads, offsets, slices and frozen dimensions.
template <class Descriptor>
TILEWRIGHT_HD constexpr long_index_t constant_term(const Descriptor& descriptor) {
  if constexpr (has_constant_term(Descriptor::graph)) {
    return sum_of_constants<Descriptor::graph>(descriptor.values.data(),
                                               make_sequence<Descriptor::graph.nodes.size()>{});
  } else {
    return 0;
  }
}

/// An offset without the constant term; the difference fits where the offset itself may not.
template <class Descriptor>
TILEWRIGHT_HD constexpr index_t without_constant_term(const Descriptor& descriptor, index_t offset) {
  if constexpr (has_constant_term(Descriptor::graph)) {
    return index_t(unsigned(offset) - unsigned(constant_term(descriptor)));
  } else {
    return offset;
  }
}

}  // namespace tilewright::detail
