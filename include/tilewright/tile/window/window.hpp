// SPDX-License-Identifier: MIT
// A tile window: a view, a tile distribution, and the plan by which the calling thread finds its addresses; and of
// linear views, 64-bit strides and the offset of index zero.
#pragma once

#include <tilewright/core/distribution/access_plan.hpp>
#include <tilewright/tile/window/tensor_view.hpp>

namespace tilewright::detail {

/// A linear_step with at most one run-time value, called with constants: slot -1 for none.
TILEWRIGHT_HD constexpr long_index_t scaled(long_index_t factor, index_t slot, const index_t* values) {
  return slot < 0 ? factor : factor * values[slot];
}

/// The step along a hidden dimension of a linear graph, in elements.
template <tensor_graph Graph, index_t Id>
TILEWRIGHT_HD constexpr long_index_t hidden_stride(const index_t* values) {
  constexpr linear_step step = step_along_hidden(Graph, Id);
  if constexpr (step.slots.size() <= 1) {
    return scaled(constant(step.factor), constant(step.only_slot()), values);
  } else {
    return step.with_values(values);
  }
}

/// The step along dimension D of a linear descriptor, in elements.
template <index_t D, class Descriptor>
TILEWRIGHT_HD constexpr long_index_t linear_stride(const Descriptor& descriptor) {
  return hidden_stride<Descriptor::graph, Descriptor::graph.top[D]>(descriptor.values.data());
}

/// The lower index of a node of a linear graph where the upper ones are zero.
template <tensor_graph::node Node, index_t... Ps>
TILEWRIGHT_HD constexpr index_t lower_of_zero(const index_t* values, sequence<Ps...>) {
  const index_t p[] = {parameter(constant(Node.spec.parameters[Ps]), constant(Node.value_slot(Ps)), values)..., 0};
  const index_t zero[tensor_graph::node::max_dims] = {};
  index_t low[tensor_graph::node::max_dims] = {};
  rules_of<Node.spec.kind, Node.spec.function>().lower(p, constant(Node.width()), zero, low);
  return low[0];
}

/// What node N of a linear graph adds to every offset.
template <tensor_graph Graph, index_t N>
TILEWRIGHT_HD constexpr long_index_t constant_of_node(const index_t* values) {
  if constexpr (has_constant_term(Graph.nodes[N])) {
    return lower_of_zero<Graph.nodes[N]>(values, parameter_sequence<Graph.nodes[N]>{}) *
           hidden_stride<Graph, Graph.nodes[N].lower[0]>(values);
  } else {
    return 0;
  }
}

template <tensor_graph Graph, index_t... Ns>
TILEWRIGHT_HD constexpr long_index_t sum_of_constants(const index_t* values, sequence<Ns...>) {
  return (constant_of_node<Graph, Ns>(values) + ...);
}

/// Offset of index zero of a linear descriptor: not zero below left pads, offsets, slices and frozen dimensions.
template <class Descriptor>
TILEWRIGHT_HD constexpr long_index_t constant_term(const Descriptor& descriptor) {
  if constexpr (has_constant_term(Descriptor::graph)) {
    return sum_of_constants<Descriptor::graph>(descriptor.values.data(),
                                               make_sequence<Descriptor::graph.nodes.size()>{});
  } else {
    return 0;
  }
}

/// An offset without the constant term; the difference fits where the offset itself may not.
template <class Descriptor>
TILEWRIGHT_HD constexpr index_t without_constant_term(const Descriptor& descriptor, index_t offset) {
  if constexpr (has_constant_term(Descriptor::graph)) {
    return index_t(unsigned(offset) - unsigned(constant_term(descriptor)));
  } else {
    return offset;
  }
}

}  // namespace tilewright::detail

namespace tilewright {

/// Promises that the window is inside the tensor along these dimensions, so that they need no bounds check. Global
/// memory only. Pads, indexing and functors of the view are checked in any case: elements that they add are inside, but
/// do not exist.
template <index_t... Dims>
struct in_bounds {
  template <index_t D>
  static constexpr bool contains = ((D == Dims) || ...);
};

/// The pages of a pool that hold a sequence: row r is row r % rows_per_page of page pages[r / rows_per_page]. The table
/// is in global memory. A negative entry is a page that does not exist: its rows read as zeros and are not written, and
/// so are rows from num_rows on.
template <class RowsPerPage>
struct page_table {
  const index_t* pages;
  index_t num_rows;
  RowsPerPage rows_per_page;  // number<N>{}, or index_t
};
template <class RowsPerPage>
page_table(const index_t*, index_t, RowsPerPage) -> page_table<RowsPerPage>;

namespace detail {

/// What a window with a gathered dimension keeps; Count: how many of its indices the thread needs.
template <index_t Count, index_t RowsPerPage, bool IsFar>
struct window_table {
  using offset_type = conditional_t<IsFar, long_index_t, index_t>;
  array<index_t, Count> page_idx;
  page_table<conditional_t<RowsPerPage == dynamic, index_t, number<RowsPerPage>>> table;
};
template <index_t Count, bool IsFar>
struct window_table<Count, 0, IsFar> {
  using offset_type = conditional_t<IsFar, long_index_t, index_t>;
  array<index_t, Count> page_idx;
};
template <>
struct window_table<0, 0, false> {
  using offset_type = index_t;
};

template <class Accesses, bool IsGathered>
inline constexpr index_t num_pages_v = 0;
template <class Accesses>
inline constexpr index_t num_pages_v<Accesses, true> = gathered_positions_v<Accesses>.count;

/// Whether moving a window along dimension D moves all its addresses by the same number of bytes, wherever it is: the
/// step times detail::linear_stride<D>(window.view.descriptor). Not so along a merge, a swizzle or a gathered
/// dimension.
template <class Window, index_t D>
inline constexpr bool steps_linearly = Window::accesses::plan.gathered != D && step_along(Window::graph, D).is_linear;

template <index_t VectorLength, index_t Elements>
TILEWRIGHT_HD constexpr void require_vector_length() {
  static_assert(VectorLength >= Elements,
                "require_vector: the window moves fewer elements at once; promise them to the descriptor "
                "(number<8>{}), let lengths and strides be multiples of them, and give them to the distribution's y");
}

}  // namespace detail

/// Made by make_tile_window, make_tile_window_linear, make_tile_scatter_gather, make_paged_tile_window and
/// make_async_tile_window, which choose the plan. Addresses are computed when the window is made: accesses whose
/// addresses differ by constants share one. Moving along dimensions of a linear view only moves the buffer's first
/// byte.
template <class View, TileDistribution Distribution, address_plan Plan = address_plan{}>
struct tile_window {
  using view_type = View;
  using distribution_type = Distribution;
  using element_type = typename View::element_type;
  using descriptor_type = typename View::descriptor_type;
  static constexpr index_t ndim = descriptor_type::ndim;
  static constexpr tensor_graph graph = descriptor_type::graph;
  static constexpr index_t element_bytes = sizeof(element_type);
  static constexpr bool is_linear_view = number<detail::grows_linearly(graph)>::value;
  static constexpr index_t gathered = Plan.gathered;
  static constexpr bool reaches_far = Plan.is_far;
  using accesses = access_plan<graph, Distribution::encoding, element_bytes, Plan>;
  static constexpr address_rule rule = accesses::list.rule;
  static constexpr index_t num_access = accesses::list.base.size();
  static constexpr index_t num_bases = accesses::list.num_bases;
  static constexpr index_t num_lanes = accesses::list.num_lanes;  // whose accesses the thread makes
  static constexpr index_t num_pages = detail::num_pages_v<accesses, (Plan.gathered >= 0)>;
  static constexpr index_t vector_length = accesses::list.vector.length;
  static constexpr index_t vector_dim_y = accesses::list.vector.dim_y;
  static constexpr index_t register_step = Distribution::encoding.y_stride(vector_dim_y);
  using vector_type = vector_t<element_type, vector_length>;
  using access_sequence = make_sequence<num_access>;
  using base_sequence = make_sequence<num_bases>;
  using dim_sequence = make_sequence<ndim>;
  using page_index = array<index_t, num_pages>;
  using table_type = detail::window_table<num_pages, Plan.rows_per_page, Plan.is_far>;
  using offset_type = typename table_type::offset_type;

  View view;
  multi_index<ndim> origin;                          // of the window in the tensor
  array<multi_index<ndim>, num_lanes> thread_index;  // in the window: of this thread, or of those in whose place it is
  array<offset_type, num_bases> base;                // byte offsets from the buffer's first byte
  [[no_unique_address]] table_type indices;

  TILEWRIGHT_HD constexpr const multi_index<ndim>& get_window_origin() const { return origin; }
  TILEWRIGHT_HD static constexpr multi_index<ndim> get_window_lengths() { return Distribution::get_lengths(); }
  TILEWRIGHT_HD static constexpr Distribution get_tile_distribution() { return {}; }

  /// Byte offsets of accesses Is from the buffer's first byte.
  template <index_t... Is>
  TILEWRIGHT_HD constexpr array<offset_type, num_access> offsets(sequence<Is...>) const {
    array<offset_type, num_access> result{};
    ((result.elements[Is] =
          base[constant(accesses::list.base[Is])] + constant(accesses::list.immediate[Is] * element_bytes)),
     ...);
    return result;
  }

  /// Clears inside[Nth] for those accesses that are outside of the tensor along dimension D.
  template <index_t D, index_t... Is>
  TILEWRIGHT_HD constexpr void check_along(array<bool, num_access>& inside, sequence<Is...>) const {
    const unsigned length = unsigned(view.descriptor.template get_length<D>());
    if constexpr (D == gathered) {
      ((inside.elements[Is] &=
        unsigned(indices.page_idx[constant(detail::gathered_positions_v<accesses>.of_access[Is])]) < length),
       ...);
    } else {
      ((inside.elements[Is] &= unsigned(origin[D]) + unsigned(thread_index[constant(accesses::list.lane[Is])][D]) +
                                   unsigned(constant(accesses::list.x[Is][D])) <
                               length),
       ...);
    }
  }

  /// Index of access Nth in the tensor.
  template <index_t Nth, index_t... Ds>
  TILEWRIGHT_HD constexpr multi_index<ndim> index_of_access(sequence<Ds...>) const {
    const multi_index<ndim>& own = thread_index[constant(accesses::list.lane[Nth])];
    multi_index<ndim> index{{(origin[Ds] + own[Ds] + constant(accesses::list.x[Nth][Ds]))...}};
    if constexpr (gathered >= 0)
      index[gathered] = indices.page_idx[constant(detail::gathered_positions_v<accesses>.of_access[Nth])];
    return index;
  }
};

/// What load_tile, store_tile, update_tile and async_load_tile need of a window: the accesses of the calling thread.
template <class T>
concept TileWindow = TileDistribution<typename T::distribution_type> && requires(const T window) {
  typename T::vector_type;
  T::num_access + T::vector_length + T::register_step + T::accesses::list.first_register[0];
  window.view.buffer;
  window.offsets(typename T::access_sequence{});
};

/// Refuses, at compile time, a window whose accesses move fewer than Elements elements at once.
template <index_t Elements, class Window>
TILEWRIGHT_HD constexpr void require_vector(const Window&) {
  detail::require_vector_length<Window::vector_length, Elements>();
}

}  // namespace tilewright
