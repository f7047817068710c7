// SPDX-License-Identifier: MIT
// How offsets follow from indices: steps of linear dimensions, bits of layouts that are linear over bits.
#pragma once

#include <tilewright/core/descriptor/tensor_graph.hpp>

namespace tilewright::detail {

/// How far one step along a dimension moves the offset, in elements: `factor` times the run-time values in `slots`.
/// Where is_linear is false, that depends on the index: below a merge, a swizzle or a table.
struct linear_step {
  bool is_linear = false;
  long_index_t factor = 0;
  inplace_vector<signed char, 15> slots;

  TILEWRIGHT_HD constexpr bool is_static() const { return is_linear && slots.empty(); }
  TILEWRIGHT_HD constexpr index_t only_slot() const { return slots.empty() ? -1 : slots[0]; }
  TILEWRIGHT_HD constexpr long_index_t with_values(const index_t* values) const {
    long_index_t product = factor;
    for (const index_t slot : slots) product *= values[slot];
    return product;
  }
};

/// The step along a hidden dimension.
TILEWRIGHT_HD constexpr linear_step step_along_hidden(const tensor_graph& graph, index_t id) {
  linear_step step{true, 1, {}};
  for (index_t k = graph.nodes.size(); k-- > 0;) {  // down to memory, through the nodes on the way
    const tensor_graph::node& node = graph.nodes[k];
    index_t upper = 0;
    while (upper < node.upper.size() && node.upper[upper] != id) ++upper;
    if (upper == node.upper.size()) continue;
    const linear_rule rule = linear_rule_of(node.spec.kind, every_kind{});
    if (rule == linear_rule::none) return {};
    if (node.lower.empty()) return {true, 0, {}};
    const index_t n = node.upper.size();
    const index_t first = rule == linear_rule::strides ? n + upper : upper + 1;
    const index_t last = rule == linear_rule::strides ? first + 1 : rule == linear_rule::row_major ? n : first;
    for (index_t i = first; i < last; ++i) {
      if (node.spec.parameters[i] == dynamic) {
        step.slots.push_back(static_cast<signed char>(node.value_slot(i)));
      } else {
        step.factor *= node.spec.parameters[i];
      }
    }
    id = node.lower[0];  // linear transforms have no other
  }
  return step;
}

/// The step along a dimension of the user's.
TILEWRIGHT_HD constexpr linear_step step_along(const tensor_graph& graph, index_t dim) {
  return step_along_hidden(graph, graph.top[dim]);
}

/// Whether offsets are linear and no offset falls where an index grows, as far as it is known at compile time.
TILEWRIGHT_HD constexpr bool grows_linearly(const tensor_graph& graph) {
  for (index_t d = 0; d < graph.ndim(); ++d) {
    const linear_step step = step_along(graph, d);
    if (!step.is_linear || step.factor < 0) return false;
  }
  return is_linear(graph);
}

/// Dimension of the space over F2 that the vectors span.
template <index_t N>
TILEWRIGHT_HD constexpr index_t f2_rank(array<unsigned, N> vectors, index_t count) {
  index_t rank = 0;
  for (index_t i = 0; i < count; ++i) {
    const unsigned pivot = vectors[i];
    if (pivot == 0) continue;
    ++rank;
    const unsigned highest = 0x80000000u >> __builtin_clz(pivot);
    for (index_t j = i + 1; j < count; ++j) vectors[j] ^= (vectors[j] & highest) != 0 ? pivot : 0;
  }
  return rank;
}

/// What each bit of an index flips in the offset, for a static graph with is_f2_linear.
template <index_t NDim>
struct offset_bits {
  array<inplace_vector<index_t, 31>, NDim> bit;  // bit[d][b]: of index 1 << b along dimension d

  TILEWRIGHT_HD constexpr index_t offset(const multi_index<NDim>& index) const {
    index_t result = 0;
    for (index_t d = 0; d < NDim; ++d) {
      for (unsigned rest = unsigned(index[d]); rest != 0; rest &= rest - 1) result ^= bit[d][lowest_set_bit(rest)];
    }
    return result;
  }

  /// Bits of the offset that bits of the index outside of own[d] may flip.
  TILEWRIGHT_HD constexpr index_t flipped_by_others(const array<index_t, NDim>& own) const {
    index_t result = 0;
    for (index_t d = 0; d < NDim; ++d) {
      for (index_t b = 0; b < bit[d].size(); ++b) result |= own[d] >> b & 1 ? 0 : bit[d][b];
    }
    return result;
  }
};

/// NDim: at least the graph's number of dimensions.
template <index_t NDim>
TILEWRIGHT_HD constexpr offset_bits<NDim> find_offset_bits(const tensor_graph& graph) {
  offset_bits<NDim> result;
  for (index_t d = 0; d < graph.ndim(); ++d) {
    const index_t length = hidden_length(graph, graph.top[d]);
    for (index_t b = 0; (length - 1) >> b != 0; ++b) {
      index_t hidden[tensor_graph::max_hidden] = {};
      hidden[graph.top[d]] = 1 << b;
      for (index_t n = graph.nodes.size(); n-- > 0;) {
        const tensor_graph::node& node = graph.nodes[n];
        bool is_on_the_way = false;  // elsewhere index zero leads to index zero
        for (const index_t id : node.upper) is_on_the_way = is_on_the_way || hidden[id] != 0;
        if (is_on_the_way) lower_through(node, node.spec.parameters.begin(), hidden);
      }
      result.bit[d].push_back(hidden[0]);
    }
  }
  return result;
}

}  // namespace tilewright::detail
