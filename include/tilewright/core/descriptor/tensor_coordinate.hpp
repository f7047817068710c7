// SPDX-License-Identifier: MIT
// Tensor coordinates: positions that keep intermediate indices, so that a move costs less than a new computation.
#pragma once

#include <tilewright/core/descriptor/tensor_descriptor.hpp>

namespace tilewright {

namespace detail {

/// Made by make_tensor_adaptor_coordinate for one adaptor. A coordinate may pass through places without an element.
template <tensor_graph Graph>
struct tensor_adaptor_coordinate {
  static constexpr index_t ndim = Graph.ndim();

  array<index_t, Graph.num_hidden> hidden;  // index of every hidden dimension

  TILEWRIGHT_HD constexpr multi_index<ndim> get_top_index() const {
    multi_index<ndim> index{};
    unroll<ndim>([&](auto i) { index[i] = hidden[constant(Graph.top[i.value])]; });
    return index;
  }
  TILEWRIGHT_HD constexpr multi_index<Graph.num_bottom> get_bottom_index() const {
    multi_index<Graph.num_bottom> index{};
    unroll<Graph.num_bottom>([&](auto i) { index[i] = hidden[i]; });
    return index;
  }
  TILEWRIGHT_HD constexpr const array<index_t, Graph.num_hidden>& get_hidden_index() const { return hidden; }

  friend constexpr bool operator==(const tensor_adaptor_coordinate&, const tensor_adaptor_coordinate&) = default;
};

/// One step from top to bottom for a coordinate: computes its lower indices,
/// or moves them by what `step` says about the upper.
template <tensor_graph::node Node, bool Moves, index_t... Ps, index_t... Us, index_t... Ls>
TILEWRIGHT_HD constexpr void place_node(const index_t* values, index_t* hidden, index_t* step, sequence<Ps...>,
                                        sequence<Us...>, sequence<Ls...>) {
  const index_t p[] = {parameter(constant(Node.spec.parameters[Ps]), constant(Node.value_slot(Ps)), values)..., 0};
  const index_t up[] = {hidden[constant(Node.upper[Us])]..., 0};
  index_t low[] = {hidden[constant(Node.lower[Ls])]..., 0};
  if constexpr (Moves) {
    const index_t up_step[] = {step[constant(Node.upper[Us])]..., 0};
    index_t low_step[sizeof...(Ls) + 1] = {};
    move_lower(rules_of<Node.spec.kind, Node.spec.function>(), p, index_t{sizeof...(Ls)}, index_t{sizeof...(Us)}, up,
               up_step, low, low_step);
    ((step[constant(Node.lower[Ls])] = low_step[Ls]), ...);
    ((hidden[constant(Node.lower[Ls])] = low[Ls] + low_step[Ls]), ...);
  } else {
    lower_anywhere(rules_of<Node.spec.kind, Node.spec.function>(), p, constant(Node.width()), up, low);
    ((hidden[constant(Node.lower[Ls])] = low[Ls]), ...);
  }
}

template <tensor_graph Graph, bool Moves, index_t... Is>
TILEWRIGHT_HD constexpr void place_nodes(const index_t* values, index_t* hidden, index_t* step, sequence<Is...>) {
  constexpr index_t last = Graph.nodes.size() - 1;
  (place_node<Graph.nodes[last - Is], Moves>(values, hidden, step, parameter_sequence<Graph.nodes[last - Is]>{},
                                             make_sequence<Graph.nodes[last - Is].upper.size()>{},
                                             make_sequence<Graph.nodes[last - Is].lower.size()>{}),
   ...);
}

}  // namespace detail

/// Made by make_tensor_coordinate for one descriptor. The offset is meaningful where
/// coordinate_has_valid_offset says so.
template <tensor_graph Graph>
struct tensor_coordinate : detail::tensor_adaptor_coordinate<Graph> {
  /// The upper index.
  TILEWRIGHT_HD constexpr multi_index<Graph.ndim()> get_index() const { return this->get_top_index(); }
  /// The offset in elements.
  TILEWRIGHT_HD constexpr index_t get_offset() const { return this->hidden[0]; }

  friend constexpr bool operator==(const tensor_coordinate&, const tensor_coordinate&) = default;
};

/// The coordinate of an index.
template <tensor_graph Graph>
TILEWRIGHT_HD constexpr detail::tensor_adaptor_coordinate<Graph> make_tensor_adaptor_coordinate(
    const tensor_adaptor<Graph>& adaptor, const multi_index<Graph.ndim()>& index) {
  detail::tensor_adaptor_coordinate<Graph> coordinate{};
  unroll<Graph.ndim()>([&](auto i) { coordinate.hidden[constant(Graph.top[i.value])] = index[i]; });
  detail::place_nodes<Graph, false>(adaptor.values.data(), coordinate.hidden.data(), nullptr,
                                    make_sequence<Graph.nodes.size()>{});
  return coordinate;
}
/// The coordinate of an index; pads and lengths are not checked.
template <tensor_graph Graph>
TILEWRIGHT_HD constexpr tensor_coordinate<Graph> make_tensor_coordinate(const tensor_descriptor<Graph>& descriptor,
                                                                        const multi_index<Graph.ndim()>& index) {
  return {make_tensor_adaptor_coordinate<Graph>(descriptor, index)};
}

/// Moves the coordinate by `step` along the top dimensions; afterwards it equals make_tensor_adaptor_coordinate of the
/// sum. Says by how much the bottom index has moved. Linear transforms add their strides times the step, merge carries,
/// others are computed again; where nothing moves, nothing is done. With a step known at compile time,
/// merge divides by nothing.
template <tensor_graph Graph>
TILEWRIGHT_HD constexpr void move_tensor_adaptor_coordinate(const tensor_adaptor<Graph>& adaptor,
                                                            detail::tensor_adaptor_coordinate<Graph>& coordinate,
                                                            const multi_index<Graph.ndim()>& step,
                                                            multi_index<Graph.num_bottom>& bottom_step) {
  array<index_t, Graph.num_hidden> hidden_step{};
  unroll<Graph.ndim()>([&](auto i) {
    constexpr index_t id = Graph.top[i.value];
    coordinate.hidden[id] += step[i];
    hidden_step[id] = step[i];
  });
  detail::place_nodes<Graph, true>(adaptor.values.data(), coordinate.hidden.data(), hidden_step.data(),
                                   make_sequence<Graph.nodes.size()>{});
  unroll<Graph.num_bottom>([&](auto i) { bottom_step[i] = hidden_step[i]; });
}
template <tensor_graph Graph>
TILEWRIGHT_HD constexpr void move_tensor_adaptor_coordinate(const tensor_adaptor<Graph>& adaptor,
                                                            detail::tensor_adaptor_coordinate<Graph>& coordinate,
                                                            const multi_index<Graph.ndim()>& step) {
  multi_index<Graph.num_bottom> bottom_step{};
  move_tensor_adaptor_coordinate(adaptor, coordinate, step, bottom_step);
}

/// move_tensor_adaptor_coordinate for a descriptor.
template <tensor_graph Graph>
TILEWRIGHT_HD constexpr void move_tensor_coordinate(const tensor_descriptor<Graph>& descriptor,
                                                    tensor_coordinate<Graph>& coordinate,
                                                    const multi_index<Graph.ndim()>& step) {
  move_tensor_adaptor_coordinate<Graph>(descriptor, coordinate, step);
}

/// Whether there is an element at the coordinate. With ..._assuming_top_index_is_valid the index is known to be inside
/// of the lengths; only pads, indexing and functors are asked.
template <tensor_graph Graph>
TILEWRIGHT_HD constexpr bool coordinate_has_valid_offset_assuming_top_index_is_valid(
    const tensor_adaptor<Graph>& adaptor, const detail::tensor_adaptor_coordinate<Graph>& coordinate) {
  return detail::nodes_are_valid<Graph>(adaptor.values.data(), coordinate.hidden.data(),
                                        make_sequence<Graph.nodes.size()>{});
}
/// Whether the element exists: its index is inside of lengths and of pads.
template <tensor_graph Graph>
TILEWRIGHT_HD constexpr bool coordinate_has_valid_offset(const tensor_adaptor<Graph>& adaptor,
                                                         const detail::tensor_adaptor_coordinate<Graph>& coordinate) {
  const auto index = coordinate.get_top_index();
  const auto lengths = adaptor.get_lengths();
  bool valid = coordinate_has_valid_offset_assuming_top_index_is_valid(adaptor, coordinate);
  for (index_t i = 0; i < Graph.ndim(); ++i) valid = valid && unsigned(index[i]) < unsigned(lengths[i]);
  return valid;
}

}  // namespace tilewright
