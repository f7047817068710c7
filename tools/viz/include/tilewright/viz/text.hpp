// SPDX-License-Identifier: MIT
// Encodings, distributions, curves and descriptors in words: to_string(value). For the host.
#pragma once

#include <tilewright/core/descriptor/tensor_coordinate.hpp>
#include <tilewright/core/distribution/matrix_curves.hpp>
#include <tilewright/core/distribution/space_filling_curve.hpp>
#include <tilewright/core/distribution/tile_distribution.hpp>

#include <string>
#include <string_view>

namespace tilewright {

namespace detail {

template <class List>
std::string joined(const List& list, std::string_view between) {
  std::string s;
  for (index_t i = 0; i < list.size(); ++i) {
    if (i > 0) s += between;
    s += list[i] == dynamic ? "?" : std::to_string(list[i]);
  }
  return s;
}

/// values: of the run-time parameters, in order; nullptr prints a question mark for each.
std::string graph_text(const tensor_graph& graph, const index_t* values);

}  // namespace detail

template <index_t N>
std::string to_string(const multi_index<N>& index) {
  return "(" + detail::joined(index, ", ") + ")";
}

/// Lengths and owners of all factors, most significant first; partition indices likewise; a thread's registers in
/// row-major order of Y.
std::string to_string(const distribution_encoding& e);

/// Sizes, then the encoding.
template <distribution_encoding Encoding>
std::string to_string(tile_distribution<Encoding> distribution) {
  std::string s = "tile of " + detail::joined(distribution.get_lengths(), " x ") + " over ";
  for (index_t i = 0; i < Encoding.ndim_p(); ++i) s += (i > 0 ? " x " : "") + std::to_string(Encoding.p_length(i));
  s += std::string(Encoding.ndim_p() == 0 ? "1" : "") + " threads, " + std::to_string(distribution.num_elements) +
       " elements each";
  if (Encoding.ndim_y() > 0) s += " (" + detail::joined(distribution.get_y_lengths(), " x ") + ")";
  return s + "\n" + to_string(Encoding);
}

template <index_t N>
std::string to_string(const curve<N>& pattern) {
  return "curve of " + detail::joined(pattern.lengths, " x ") + ", order " + detail::joined(pattern.order, " ") +
         ", accesses of " + detail::joined(pattern.scalars_per_access, " x ") + (pattern.snake ? ", snake" : "") +
         ": " + std::to_string(pattern.get_num_of_access()) + " accesses";
}

template <index_t NDim, class Lengths, class Order, class Scalars, bool Snake>
std::string to_string(space_filling_curve<NDim, Lengths, Order, Scalars, Snake> pattern) {
  return to_string(pattern.traversal);
}

std::string to_string(const hilbert_curve& pattern);
std::string to_string(const row_group_curve& pattern);

/// The transforms from the top, whose dimensions the user indexes, to memory, which is 0.
/// Dimensions are numbered through the graph.
std::string to_string(const tensor_graph& graph);

/// The same with lengths, size and the values of run-time parameters.
template <tensor_graph Graph>
std::string to_string(const tensor_descriptor<Graph>& descriptor) {
  return "tensor descriptor of " + detail::joined(descriptor.get_lengths(), " x ") + ", " +
         std::to_string(descriptor.get_element_space_size()) + " elements, dimensions " +
         detail::joined(Graph.top, " ") + detail::graph_text(Graph, descriptor.values.data());
}

}  // namespace tilewright
