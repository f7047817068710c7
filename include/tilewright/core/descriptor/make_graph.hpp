// SPDX-License-Identifier: MIT
// Graphs of descriptors made from values alone: layouts that a function computes, at compile time or at run time.
#pragma once

#include <tilewright/core/base/trap.hpp>
#include <tilewright/core/descriptor/detail/chain.hpp>

namespace tilewright {

namespace detail {

/// A transform with all parameters known, and the dimensions that it joins.
struct placed_spec {
  transform_spec spec;
  dimension_ids lower, upper;
};

// Reaching this in a constant expression is the error: the transforms do not fit the graph.
TILEWRIGHT_HD void transforms_do_not_fit_the_graph() { trap(); }

}  // namespace detail

/// A transform of some lower dimensions of a graph to some upper ones; parameters as the transform's header lists them.
template <class... Parameters>
TILEWRIGHT_HD constexpr detail::placed_spec place_transform(transform_kind kind, const detail::dimension_ids& lower,
                                                            const detail::dimension_ids& upper,
                                                            Parameters... parameters) {
  detail::placed_spec result{
      {kind, static_cast<signed char>(lower.ids.size()), static_cast<signed char>(upper.ids.size()), {}}, lower, upper};
  (result.spec.parameters.push_back(parameters), ...);
  return result;
}

/// A row-major tensor without gaps.
template <class... Lengths>
TILEWRIGHT_HD constexpr tensor_graph packed_graph(Lengths... lengths) {
  transform_spec spec{transform_kind::unmerge, 1, sizeof...(Lengths), {}};
  (spec.parameters.push_back(lengths), ...);
  return detail::single_node_graph(spec);
}

/// Element (i0, i1) at offset i0 * stride0 + i1 * stride1.
TILEWRIGHT_HD constexpr tensor_graph strided_graph(index_t length0, index_t length1, index_t stride0, index_t stride1) {
  transform_spec spec{transform_kind::embed, 1, 2, {}};
  for (const index_t parameter : {length0, length1, stride0, stride1, index_t(0), index_t(0)})
    spec.parameters.push_back(parameter);
  return detail::single_node_graph(spec);
}

/// The graph seen through transforms that together use every dimension once, as transform_tensor_descriptor has it.
template <class... Placed>
TILEWRIGHT_HD constexpr tensor_graph transform_graph(const tensor_graph& graph, const Placed&... placed) {
  constexpr index_t n = sizeof...(Placed);
  const detail::chained_graph result =
      detail::chain<n>(graph, {{placed.spec...}}, {{placed.lower...}}, {{placed.upper...}});
  if (result.fault != detail::chain_fault::none) detail::transforms_do_not_fit_the_graph();
  return result.graph;
}

}  // namespace tilewright
