// SPDX-License-Identifier: MIT
// Encodings, grid curves and tensor graphs in words.
#include <tilewright/viz/text.hpp>

#include <cstddef>

namespace tilewright {

namespace {

/// The enumerator's name, as the compiler spells it.
template <transform_kind Kind>
std::string kind_name(detail::transform_rules<Kind>) {
  const std::string_view signature = __PRETTY_FUNCTION__;
  constexpr std::string_view prefix = "transform_kind::";
  const std::size_t first = signature.rfind(prefix) + prefix.size();
  const std::size_t last = signature.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_", first);
  return std::string(signature.substr(first, last - first));
}

std::string id_name(rh_id id) {
  const std::string list = id.major == 0 ? "R" : "X" + std::to_string(id.major - 1);
  return list + "." + std::to_string(id.minor);
}

/// One factor: its length, and who owns it.
std::string factor_text(const distribution_encoding& e, rh_id id) {
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

}  // namespace

std::string detail::graph_text(const tensor_graph& graph, const index_t* values) {
  std::string s;
  for (index_t n = graph.nodes.size(); n-- > 0;) {
    const tensor_graph::node& node = graph.nodes[n];
    s += "\n  " + detail::joined(node.upper, " ") + " -> " + detail::joined(node.lower, " ") + ": ";
    s += detail::with_rules(node.spec, [](auto rules) { return kind_name(rules); }) + " (";
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

std::string to_string(const distribution_encoding& e) {
  const auto list = [](std::string_view name, index_t total, const auto& items, std::string_view between, auto text) {
    std::string s = "\n  " + std::string(name) + (total >= 0 ? " = " + std::to_string(total) : "") + ":";
    for (index_t i = 0; i < items.size(); ++i) s += (i > 0 ? std::string(between) : " ") + text(items[i], i);
    return s;
  };
  const auto id_text = [](rh_id id, index_t) { return id_name(id); };
  std::string s = "tile distribution encoding";
  const auto factors = [&](index_t major) {
    return [&e, major](index_t, index_t minor) {
      return factor_text(e, {static_cast<signed char>(major), static_cast<signed char>(minor)});
    };
  };
  if (!e.r.empty()) s += list("R", -1, e.r, " x ", factors(0));
  for (index_t x = 0; x < e.ndim_x(); ++x)
    s += list("X" + std::to_string(x), e.x_length(x), e.h[x], " x ", factors(x + 1));
  for (index_t i = 0; i < e.ndim_p(); ++i) s += list("P" + std::to_string(i), -1, e.p[i], " ", id_text);
  return s + list("Y", -1, e.y, " ", id_text) + "\n";
}

std::string to_string(const hilbert_curve& pattern) {
  return "Hilbert curve of " + std::to_string(pattern.rows) + " x " + std::to_string(pattern.cols) + " tiles";
}

std::string to_string(const row_group_curve& pattern) {
  return "curve of " + std::to_string(pattern.rows) + " x " + std::to_string(pattern.cols) + " tiles in groups of " +
         std::to_string(pattern.group_rows) + " rows" + (pattern.snake ? ", snake" : "");
}

std::string to_string(const tensor_graph& graph) {
  return "tensor graph, dimensions " + detail::joined(graph.top, " ") + detail::graph_text(graph, nullptr);
}

}  // namespace tilewright
