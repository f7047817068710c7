// SPDX-License-Identifier: MIT
// The access plan of a thread: the memory accesses for its part of a tile, as a constant.
#pragma once

#include <tilewright/core/descriptor/tensor_descriptor.hpp>
#include <tilewright/core/distribution/access_list.hpp>

namespace tilewright {

namespace detail {

/// The vector that a distribution and a descriptor allow.
TILEWRIGHT_HD constexpr vector_choice choose_vector(const tensor_graph& graph, const distribution_encoding& encoding,
                                                    index_t element_bytes) {
  const auto runs = contiguous_runs(graph, 1 << 20);
  array<index_t, tensor_graph::max_top> top_runs{};
  for (index_t i = 0; i < graph.ndim(); ++i) top_runs[i] = runs[graph.top[i]];
  return choose_vector(encoding, top_runs, element_bytes);
}

// A template argument is computed once; the initialiser of a variable three times by clang, for device code. But g++ 12
// leaves out zeros inside of arrays when it mangles a template argument, so that two of these would share a symbol.
#if defined(__clang__)
template <auto Value>
inline constexpr const auto& object_of = Value;
template <tensor_graph Graph>
inline constexpr const auto& offset_bits_v = object_of<find_offset_bits<Graph.ndim()>(Graph)>;
#else
template <tensor_graph Graph>
inline constexpr auto offset_bits_v = find_offset_bits<Graph.ndim()>(Graph);
#endif

/// The accesses to a descriptor under a distribution. xor_groups assumes that the tile's origin is a multiple of the
/// tile's lengths.
template <tensor_graph Graph, distribution_encoding Encoding, vector_choice Vector, lane_permutation Permutation>
constexpr auto make_access_list() {
  constexpr index_t num_access = Encoding.num_elements_per_thread() / Vector.length;
  access_list<num_access, Encoding.ndim_x()> list;
  list.vector = Vector;
  place_accesses(list, Encoding);
  list.num_bases = num_access;
  for (index_t i = 0; i < num_access; ++i) list.base[i] = i;
  if constexpr (is_linear(Graph)) {
    list.rule = address_rule::uniform_steps;
    if constexpr (Graph.num_values == 0) derive_by_addition(list, Graph);
  } else if constexpr (Graph.num_values == 0 && is_f2_linear(Graph)) {
    if (has_power_of_two_lengths(Encoding)) derive_by_xor(list, Encoding, offset_bits_v<Graph>);
  }
  if constexpr (!Permutation.is_identity()) split_by_lanes(list, Permutation);
  return list;
}

}  // namespace detail

/// The list as a constant.
template <tensor_graph Graph, distribution_encoding Encoding, index_t ElementBytes,
          detail::lane_permutation Permutation = detail::lane_permutation{}>
struct access_plan {
  static constexpr detail::lane_permutation permutation = Permutation;  ///< lanes that make each other's accesses
  static constexpr bool is_permuted = !Permutation.is_identity();       ///< whether there is one
  /// elements of an access
  static constexpr detail::vector_choice vector = number<detail::choose_vector(Graph, Encoding, ElementBytes)>::value;
#if defined(__clang__)
  /// the accesses of a thread
  static constexpr const auto& list =
      detail::object_of<detail::make_access_list<Graph, Encoding, vector, Permutation>()>;
#else
  /// the accesses of a thread
  static constexpr auto list = detail::make_access_list<Graph, Encoding, vector, Permutation>();
#endif
};

}  // namespace tilewright
