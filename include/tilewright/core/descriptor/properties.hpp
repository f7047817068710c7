// SPDX-License-Identifier: MIT
// Properties of a descriptor as a whole: whether elements share a place, and whether places stay empty.
#pragma once

#include <tilewright/core/descriptor/offset_analysis.hpp>
#include <tilewright/core/descriptor/tensor_descriptor.hpp>

namespace tilewright {

namespace detail {

/// Lengths of the top dimensions, everything being known.
TILEWRIGHT_HD constexpr multi_index<tensor_graph::max_top> known_lengths(const tensor_graph& graph,
                                                                         const index_t* values) {
  multi_index<tensor_graph::max_top> lengths{};
  for (index_t d = 0; d < graph.ndim(); ++d) {
    const dimension_source source = find_source(graph, graph.top[d]);
    const tensor_graph::node& node = graph.nodes[source.node];
    const transform_parameters p = node.parameters(values);
    lengths[d] =
        with_rules(node.spec, [&](auto rules) { return rules.upper_length(p.data(), node.width(), source.upper); });
  }
  return lengths;
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
  long_index_t first = 0, last = space - 1, num_taken = 0;
  for_each_offset(graph, values, lengths, [&](long_index_t offset) {
    first = min(first, offset);
    last = max(last, offset);
  });
  element_census result;
  bool* const taken = new bool[static_cast<unsigned long long>(last - first + 1)]{};
  for_each_offset(graph, values, lengths, [&](long_index_t offset) {
    num_taken += !taken[offset - first];
    result.is_unique = result.is_unique && !taken[offset - first];
    taken[offset - first] = true;
  });
  delete[] taken;
  result.is_exhaustive = num_taken == space && last - first + 1 == space;
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

/// Of a static graph whose lengths are powers of two and whose offsets are exclusive ors of what bits of an index flip.
TILEWRIGHT_HD constexpr element_census census_of_bits(const tensor_graph& graph, long_index_t space) {
  const auto offsets = find_offset_bits<tensor_graph::max_top>(graph);
  array<unsigned, 31> bits{};
  index_t count = 0;
  unsigned reached = 0;
  for (const auto& of_dim : offsets.bit) {
    for (const index_t bit : of_dim) reached |= bits[count++] = unsigned(bit);
  }
  const index_t rank = f2_rank(bits, count);
  return {rank == count, 1ll << rank == space && long_index_t{reached} < space};
}

TILEWRIGHT_HD constexpr element_census take_census(const tensor_graph& graph, const index_t* values,
                                                   long_index_t space) {
  const auto lengths = known_lengths(graph, values);
  long_index_t elements = 1;
  bool are_powers_of_two = graph.num_values == 0;
  for (index_t d = 0; d < graph.ndim(); ++d) {
    elements = min(elements * lengths[d], largest_index + 1);
    are_powers_of_two = are_powers_of_two && is_power_of_two(lengths[d]);
  }
  if (elements == 0) return {true, space == 0};
  if (is_linear(graph) && !may_be_invalid(graph)) {
    const linear_form form = linear_form_of(graph, values, lengths);
    if (form.is_nested) return {true, elements == space && form.first == 0 && form.last == space - 1};
  } else if (are_powers_of_two && elements <= largest_index && is_f2_linear(graph) && !may_be_invalid(graph)) {
    return census_of_bits(graph, space);
  }
  return count_elements(graph, values, lengths, space);
}

}  // namespace detail

/// Whether no two elements share an offset. Strided tensors, and static layouts of powers of two that are linear over
/// bits (swizzles), are seen through; others (sliding windows, broadcasts, gathers, pads) are looked at element by
/// element, so do not ask for huge ones. Offsets must fit; see offsets_fit.
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
