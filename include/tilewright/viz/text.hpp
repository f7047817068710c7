// SPDX-License-Identifier: MIT
// Encodings, distributions, curves and descriptors in words: to_string(value). For the host.
#pragma once

#include <tilewright/descriptor/tensor_coordinate.hpp>
#include <tilewright/distribution/hilbert_curve.hpp>
#include <tilewright/distribution/row_group_curve.hpp>
#include <tilewright/distribution/space_filling_curve.hpp>
#include <tilewright/distribution/tile_distribution.hpp>

#include <cstddef>
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

/// The enumerator's name, as the compiler spells it.
template <transform_kind Kind>
std::string kind_name(transform_rules<Kind>) {
  const std::string_view signature = __PRETTY_FUNCTION__;
  constexpr std::string_view prefix = "transform_kind::";
  const std::size_t first = signature.rfind(prefix) + prefix.size();
  const std::size_t last = signature.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_", first);
  return std::string(signature.substr(first, last - first));
}

inline std::string id_name(rh_id id) {
  const std::string list = id.major == 0 ? "R" : "X" + std::to_string(id.major - 1);
  return list + "." + std::to_string(id.minor);
}

/// One factor: its length, and who owns it.
inline std::string factor_text(const distribution_encoding& e, rh_id id) {
  std::string s = std::to_string(e.length(id));
  for (index_t i = 0; i < e.ndim_p(); ++i) {
    for (rh_id owned : e.p[i]) {
      if (owned == id) s += " (P" + std::to_string(i) + ")";
    }
  }
  for (index_t i = 0; i < e.ndim_y(); ++i) {
    if (e.y[i] == id) s += " (Y" + std::to_string(i) + ")";
  }
  return s;
}

/// values: of the run-time parameters, in order; nullptr prints a question mark for each.
inline std::string graph_text(const tensor_graph& graph, const index_t* values) {
  std::string s;
  for (index_t n = graph.nodes.size(); n-- > 0;) {
    const graph_node& node = graph.nodes[n];
    s += "\n  " + joined(node.upper, " ") + " -> " + joined(node.lower, " ") + ": ";
    s += with_rules(node.spec, [](auto rules) { return kind_name(rules); }) + " (";
    for (index_t i = 0; i < node.spec.parameters.size(); ++i) {
      const index_t p = node.spec.parameters[i];
      s += i > 0 ? ", " : "";
      s += p != dynamic        ? std::to_string(p)
           : values == nullptr ? "?"
                               : "?=" + std::to_string(values[node.value_slot(i)]);
    }
    s += ")";
  }
  return s + "\n";
}

}  // namespace detail

template <index_t N>
std::string to_string(const multi_index<N>& index) {
  return "(" + detail::joined(index, ", ") + ")";
}

/// Lengths and owners of all factors, most significant first; partition indices likewise; a thread's registers in
/// row-major order of Y.
inline std::string to_string(const distribution_encoding& e) {
  const auto list = [](std::string_view name, index_t total, const auto& items, std::string_view between, auto text) {
    std::string s = "\n  " + std::string(name) + (total >= 0 ? " = " + std::to_string(total) : "") + ":";
    for (index_t i = 0; i < items.size(); ++i) s += (i > 0 ? std::string(between) : " ") + text(items[i], i);
    return s;
  };
  const auto id_text = [](rh_id id, index_t) { return detail::id_name(id); };
  std::string s = "tile distribution encoding";
  const auto factors = [&](index_t major) {
    return [&e, major](index_t, index_t minor) {
      return detail::factor_text(e, {static_cast<signed char>(major), static_cast<signed char>(minor)});
    };
  };
  if (!e.r.empty()) s += list("R", -1, e.r, " x ", factors(0));
  for (index_t x = 0; x < e.ndim_x(); ++x)
    s += list("X" + std::to_string(x), e.x_length(x), e.h[x], " x ", factors(x + 1));
  for (index_t i = 0; i < e.ndim_p(); ++i) s += list("P" + std::to_string(i), -1, e.p[i], " ", id_text);
  return s + list("Y", -1, e.y, " ", id_text) + "\n";
}

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
std::string to_string(const curve<N>& walk) {
  return "curve of " + detail::joined(walk.lengths, " x ") + ", order " + detail::joined(walk.order, " ") +
         ", accesses of " + detail::joined(walk.scalars_per_access, " x ") + (walk.snake ? ", snake" : "") + ": " +
         std::to_string(walk.get_num_of_access()) + " accesses";
}

template <index_t NDim, class Lengths, class Order, class Scalars, bool Snake>
std::string to_string(space_filling_curve<NDim, Lengths, Order, Scalars, Snake> walk) {
  return to_string(walk.walk);
}

inline std::string to_string(const hilbert_curve& walk) {
  return "Hilbert curve of " + std::to_string(walk.rows) + " x " + std::to_string(walk.cols) + " tiles";
}

inline std::string to_string(const row_group_curve& walk) {
  return "curve of " + std::to_string(walk.rows) + " x " + std::to_string(walk.cols) + " tiles in groups of " +
         std::to_string(walk.group_rows) + " rows" + (walk.snake ? ", snake" : "");
}

/// The transforms from the top, whose dimensions the user indexes, to memory, which is 0.
/// Dimensions are numbered through the graph.
inline std::string to_string(const tensor_graph& graph) {
  return "tensor graph, dimensions " + detail::joined(graph.top, " ") + detail::graph_text(graph, nullptr);
}

/// The same with lengths, size and the values of run-time parameters.
template <tensor_graph Graph>
std::string to_string(const tensor_descriptor<Graph>& descriptor) {
  return "tensor descriptor of " + detail::joined(descriptor.get_lengths(), " x ") + ", " +
         std::to_string(descriptor.get_element_space_size()) + " elements, dimensions " +
         detail::joined(Graph.top, " ") + detail::graph_text(Graph, descriptor.values.data());
}

}  // namespace tilewright
