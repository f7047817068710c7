// SPDX-License-Identifier: MIT
// A position in a tensor that remembers its intermediate indices, so that moving it costs less than computing it anew.
#pragma once

#include <tilewright/descriptor/tensor_descriptor.hpp>

namespace tilewright {

/// Made by make_tensor_coordinate for one descriptor. The offset is meaningful where the descriptor's is_valid says so; a
/// coordinate may pass through other places.
template <tensor_graph Graph>
struct tensor_coordinate {
  static constexpr index_t ndim = Graph.ndim();

  array<index_t, Graph.num_hidden> hidden;  // index of every hidden dimension

  TILEWRIGHT_HD constexpr multi_index<ndim> get_index() const {
    multi_index<ndim> index{};
    unroll<ndim>([&](auto i) { index[i] = hidden[number<Graph.top[i.value]>::value]; });
    return index;
  }
  TILEWRIGHT_HD constexpr index_t get_offset() const { return hidden[0]; }
  TILEWRIGHT_HD constexpr const array<index_t, Graph.num_hidden>& get_hidden_index() const { return hidden; }

  friend constexpr bool operator==(const tensor_coordinate&, const tensor_coordinate&) = default;
};

namespace detail {

/// Digits of n for merge's lower lengths p. Rounds downwards, so that digits stay digits where a pad makes n negative.
TILEWRIGHT_HD constexpr void split_rounding_down(const index_t* p, index_t width, index_t n, index_t* digits) {
  for (index_t i = width - 1; i > 0; --i) {
    const index_t digit = n % p[i] + (n % p[i] < 0 ? p[i] : 0);
    digits[i] = digit;
    n = (n - digit) / p[i];
  }
  digits[0] = n;
}

/// Lower index of one transform. As transform_rules say, but defined for negative indices, too.
template <transform_kind Kind>
TILEWRIGHT_HD constexpr void lower_anywhere(const index_t* p, index_t width, const index_t* up, index_t* low) {
  if constexpr (Kind == transform_kind::merge) {
    split_rounding_down(p, width, up[0], low);
  } else {
    transform_rules<Kind>::lower(p, width, up, low);
  }
}

/// How far the lower index of one transform moves when its upper index has moved by up_step to up.
template <transform_kind Kind, index_t NumLower, index_t NumUpper>
TILEWRIGHT_HD constexpr void lower_step(const index_t* p, index_t width, const index_t* up, const index_t* up_step,
                                        const index_t* low, index_t* low_step) {
  if constexpr (transform_rules<Kind>::linear) {
    const index_t zero[NumUpper + 1] = {};
    index_t at_zero = 0;
    transform_rules<Kind>::lower(p, width, up_step, low_step);
    transform_rules<Kind>::lower(p, width, zero, &at_zero);
    low_step[0] -= at_zero;
  } else if constexpr (Kind == transform_kind::merge) {
    if (up_step[0] == 0) return;
    split_rounding_down(p, width, up_step[0], low_step);
    index_t carry = 0;
    for (index_t i = width - 1; i > 0; --i) {
      low_step[i] += carry;
      carry = low[i] + low_step[i] >= p[i] ? 1 : 0;
      low_step[i] -= carry * p[i];
    }
    low_step[0] += carry;
  } else {
    bool moves = false;
    for (index_t i = 0; i < NumUpper; ++i) moves = moves || up_step[i] != 0;
    if (!moves) return;
    lower_anywhere<Kind>(p, width, up, low_step);
    for (index_t i = 0; i < NumLower; ++i) low_step[i] -= low[i];
  }
}

/// One step from top to bottom for a coordinate: computes its lower indices, or moves them by what `step` says about the upper.
template <graph_node Node, bool Moves, index_t... Ps, index_t... Us, index_t... Ls>
TILEWRIGHT_HD constexpr void place_node(const index_t* values, index_t* hidden, index_t* step,
                                        std::integer_sequence<index_t, Ps...>, std::integer_sequence<index_t, Us...>,
                                        std::integer_sequence<index_t, Ls...>) {
  const index_t p[] = {parameter<Node, Ps>(values)...};
  const index_t up[] = {hidden[number<Node.upper[Us]>::value]..., 0};
  index_t low[] = {hidden[number<Node.lower[Ls]>::value]...};
  if constexpr (Moves) {
    const index_t up_step[] = {step[number<Node.upper[Us]>::value]..., 0};
    index_t low_step[sizeof...(Ls)] = {};
    lower_step<Node.spec.kind, sizeof...(Ls), sizeof...(Us)>(p, number<Node.width()>::value, up, up_step, low,
                                                             low_step);
    ((step[number<Node.lower[Ls]>::value] = low_step[Ls]), ...);
    ((hidden[number<Node.lower[Ls]>::value] = low[Ls] + low_step[Ls]), ...);
  } else {
    lower_anywhere<Node.spec.kind>(p, number<Node.width()>::value, up, low);
    ((hidden[number<Node.lower[Ls]>::value] = low[Ls]), ...);
  }
}

template <graph_node Node, bool Moves>
TILEWRIGHT_HD constexpr void place_node(const index_t* values, index_t* hidden, index_t* step) {
  place_node<Node, Moves>(values, hidden, step, std::make_integer_sequence<index_t, Node.spec.parameters.size()>{},
                          std::make_integer_sequence<index_t, Node.upper.size()>{},
                          std::make_integer_sequence<index_t, Node.lower.size()>{});
}

template <tensor_graph Graph, bool Moves, index_t... Is>
TILEWRIGHT_HD constexpr void place_nodes(const index_t* values, index_t* hidden, index_t* step,
                                         std::integer_sequence<index_t, Is...>) {
  (place_node<Graph.nodes[Graph.nodes.size() - 1 - Is], Moves>(values, hidden, step), ...);
}

}  // namespace detail

/// The coordinate of an index.
template <tensor_graph Graph>
TILEWRIGHT_HD constexpr tensor_coordinate<Graph> make_tensor_coordinate(const tensor_descriptor<Graph>& descriptor,
                                                                        const multi_index<Graph.ndim()>& index) {
  tensor_coordinate<Graph> coordinate{};
  unroll<Graph.ndim()>([&](auto i) { coordinate.hidden[number<Graph.top[i.value]>::value] = index[i]; });
  detail::place_nodes<Graph, false>(descriptor.values.data(), coordinate.hidden.data(), nullptr,
                                    std::make_integer_sequence<index_t, Graph.nodes.size()>{});
  return coordinate;
}

/// Moves the coordinate by `step` along the descriptor's dimensions; afterwards it equals make_tensor_coordinate of the sum.
/// Linear transforms add their strides times the step, merge carries, xor is computed anew; where nothing moves, nothing is done.
/// With a step known at compile time, merge divides by nothing.
template <tensor_graph Graph>
TILEWRIGHT_HD constexpr void move_tensor_coordinate(const tensor_descriptor<Graph>& descriptor,
                                                    tensor_coordinate<Graph>& coordinate,
                                                    const multi_index<Graph.ndim()>& step) {
  array<index_t, Graph.num_hidden> hidden_step{};
  unroll<Graph.ndim()>([&](auto i) {
    constexpr index_t id = Graph.top[i.value];
    coordinate.hidden[id] += step[i];
    hidden_step[id] = step[i];
  });
  detail::place_nodes<Graph, true>(descriptor.values.data(), coordinate.hidden.data(), hidden_step.data(),
                                   std::make_integer_sequence<index_t, Graph.nodes.size()>{});
}

}  // namespace tilewright
