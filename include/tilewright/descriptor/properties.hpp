// SPDX-License-Identifier: MIT
// Properties of a descriptor as a whole: whether elements share a place, and whether places stay empty.
#pragma once

#include <tilewright/descriptor/offset_analysis.hpp>
#include <tilewright/descriptor/tensor_descriptor.hpp>

namespace tilewright {

namespace detail {

/// Lengths of the top dimensions, everything being known.
TILEWRIGHT_HD constexpr multi_index<tensor_graph::max_top> known_lengths(const tensor_graph& graph,
                                                                         const index_t* values) {
  multi_index<tensor_graph::max_top> lengths{};
  for (index_t d = 0; d < graph.ndim(); ++d) {
    const dimension_source source = find_source(graph, graph.top[d]);
    const graph_node& node = graph.nodes[source.node];
    const transform_parameters p = node.parameters(values);
    lengths[d] =
        with_rules(node.spec, [&](auto rules) { return rules.upper_length(p.data(), node.width(), source.upper); });
  }
  return lengths;
}

/// The graph without those transforms at its top, but for the one that makes offsets,
/// of which may_go(rules, p, n) says yes.
template <class MayGo>
TILEWRIGHT_HD constexpr tensor_graph without_top(const tensor_graph& graph, const index_t* values, MayGo may_go) {
  array<bool, tensor_graph::max_hidden> at_top{};
  array<bool, tensor_graph::max_nodes> goes{};
  for (const index_t id : graph.top) at_top[id] = true;
  index_t num_top = graph.ndim();
  for (index_t n = graph.nodes.size(); n-- > 0;) {
    const graph_node& node = graph.nodes[n];
    const transform_parameters p = node.parameters(values);
    goes[n] = with_rules(node.spec, [&](auto rules) { return may_go(rules, p.data(), node.width()); });
    for (const index_t id : node.upper) goes[n] = goes[n] && at_top[id];
    for (const index_t id : node.lower) goes[n] = goes[n] && id >= graph.num_bottom;
    const index_t change = node.lower.size() - node.upper.size();
    goes[n] = goes[n] && num_top + change <= tensor_graph::max_top;
    if (!goes[n]) continue;
    num_top += change;
    for (const index_t id : node.upper) at_top[id] = false;
    for (const index_t id : node.lower) at_top[id] = true;
  }
  tensor_graph rest;
  rest.num_bottom = graph.num_bottom;
  rest.num_hidden = graph.num_hidden;
  rest.num_values = graph.num_values;
  for (index_t n = 0; n < graph.nodes.size(); ++n) {
    if (!goes[n]) rest.nodes.push_back(graph.nodes[n]);
  }
  for (index_t id = 0; id < graph.num_hidden; ++id) {
    if (at_top[id]) rest.top.push_back(static_cast<signed char>(id));
  }
  return rest;
}

/// What the elements of a descriptor do to memory.
struct element_census {
  bool is_unique = true;
  bool is_exhaustive = false;
};

/// f(offset) for every element of a graph whose lengths are all positive.
template <class F>
TILEWRIGHT_HD constexpr void for_each_offset(const tensor_graph& graph, const index_t* values,
                                             const multi_index<tensor_graph::max_top>& lengths, F&& f) {
  index_t hidden[tensor_graph::max_hidden] = {};
  multi_index<tensor_graph::max_top> index{};
  for (bool more = true; more;) {
    lower_all(graph, values, index.data(), hidden);
    if (is_valid_everywhere(graph, values, hidden)) f(long_index_t{hidden[0]});
    index_t d = graph.ndim() - 1;
    while (d >= 0 && ++index[d] == lengths[d]) index[d--] = 0;
    more = d >= 0;
  }
}

/// By looking at every element.
TILEWRIGHT_HD constexpr element_census count_elements(const tensor_graph& graph, const index_t* values,
                                                      const multi_index<tensor_graph::max_top>& lengths,
                                                      long_index_t space) {
  element_census result;
  long_index_t first = 0, last = space - 1, num_taken = 0;
  const auto look = [&] {
    const long_index_t begin = first;
    bool* const taken = new bool[static_cast<unsigned long long>(last - first + 1)]{};
    const long_index_t end = last + 1;
    for_each_offset(graph, values, lengths, [&](long_index_t offset) {
      first = min(first, offset);
      last = max(last, offset);
      if (offset < begin || offset >= end) return;
      num_taken += !taken[offset - begin];
      result.is_unique = result.is_unique && !taken[offset - begin];
      taken[offset - begin] = true;
    });
    delete[] taken;
  };
  look();
  if (first == 0 && last == space - 1) {
    result.is_exhaustive = num_taken == space;
  } else {
    look();  // at those outside of the space, too
  }
  return result;
}

/// How the offset of a linear graph depends on its top dimensions.
struct linear_form {
  long_index_t first = 0, last = 0;  // the smallest and the largest offset
  bool is_nested = true;             // sorted by stride, each dimension steps over all that those before it reach
};

TILEWRIGHT_HD constexpr linear_form linear_form_of(const tensor_graph& graph, const index_t* values,
                                                   const multi_index<tensor_graph::max_top>& lengths) {
  index_t hidden[tensor_graph::max_hidden] = {};
  const multi_index<tensor_graph::max_top> zero{};
  lower_all(graph, values, zero.data(), hidden);
  const index_t origin = hidden[0];
  linear_form form{origin, origin};
  inplace_vector<long_index_t, tensor_graph::max_top> strides, reach;
  for (index_t d = 0; d < graph.ndim(); ++d) {
    if (lengths[d] <= 1) continue;
    const long_index_t stride = step_along(graph, d).with_values(values);
    const long_index_t length = stride * (long_index_t{lengths[d]} - 1);
    (stride < 0 ? form.first : form.last) += length;
    strides.push_back(stride < 0 ? -stride : stride);
    reach.push_back(stride < 0 ? -length : length);
  }
  long_index_t covered = 0;  // by the dimensions so far
  for (index_t n = strides.size(); n > 0; --n) {
    index_t least = 0;
    for (index_t i = 1; i < n; ++i) least = strides[i] < strides[least] ? i : least;
    if (strides[least] <= covered) form.is_nested = false;
    covered += reach[least];
    strides[least] = strides[n - 1];
    reach[least] = reach[n - 1];
  }
  return form;
}

TILEWRIGHT_HD constexpr element_census take_census(const tensor_graph& graph, const index_t* values,
                                                   long_index_t space) {
  // Bijections above do not change which places are taken. What only leaves out elements makes none of them meet.
  const tensor_graph base =
      without_top(graph, values, [](auto rules, const index_t* p, index_t n) { return rules.bijective(p, n); });
  const tensor_graph whole =
      without_top(base, values, [](auto rules, const index_t* p, index_t n) { return rules.injective(p, n); });
  const auto lengths = known_lengths(base, values);
  long_index_t elements = 1;
  for (index_t d = 0; d < base.ndim(); ++d) elements = min(elements * lengths[d], largest_index + 1);
  if (elements == 0) return {true, space == 0};
  const bool is_seen_to_be_unique = is_linear(whole) && !may_be_invalid(whole) &&
                                    linear_form_of(whole, values, known_lengths(whole, values)).is_nested;
  if (is_seen_to_be_unique && !may_be_invalid(base)) {
    if (elements != space) return {true, false};  // as many places are taken as there are elements
    if (is_linear(base)) {
      const linear_form form = linear_form_of(base, values, lengths);
      return {true, form.first == 0 && form.last == space - 1};
    }
  }
  return count_elements(base, values, lengths, space);
}

}  // namespace detail

/// Whether no two elements share an offset. Plain tensors and bijections on them are seen through; others (sliding
/// windows, broadcasts, gathers) are looked at element by element, so do not ask for huge ones. Offsets must fit;
/// see offsets_fit.
template <tensor_graph Graph>
TILEWRIGHT_HD constexpr bool is_unique(const tensor_descriptor<Graph>& descriptor) {
  return detail::take_census(Graph, descriptor.values.data(), descriptor.element_space_size).is_unique;
}

/// Whether the elements take every offset from 0 to the element space's end; costs as is_unique.
template <tensor_graph Graph>
TILEWRIGHT_HD constexpr bool is_exhaustive(const tensor_descriptor<Graph>& descriptor) {
  return detail::take_census(Graph, descriptor.values.data(), descriptor.element_space_size).is_exhaustive;
}

}  // namespace tilewright
