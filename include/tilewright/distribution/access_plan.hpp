// SPDX-License-Identifier: MIT
// The accesses that a thread makes for its part of a tile, and which of their addresses differ by constants.
#pragma once

#include <tilewright/descriptor/tensor_descriptor.hpp>
#include <tilewright/distribution/load_store_traits.hpp>

namespace tilewright {

/// How the addresses of a thread's accesses follow from each other.
enum class address_rule : signed char {
  constant_steps,  // one address; the others differ by constants
  uniform_steps,   // by numbers that are the same for all threads, but known only at run time
  xor_groups,      // a few addresses that differ in bits; the others differ from one of them by constants
  independent,     // nothing is known
};

/// The vector that a distribution and a descriptor allow; none along dimension `scattered`.
TILEWRIGHT_HD constexpr vector_choice choose_vector(const tensor_graph& graph, const distribution_encoding& encoding,
                                                    index_t element_bytes, index_t scattered = -1) {
  const auto runs = contiguous_runs(graph, 1 << 20);
  array<index_t, tensor_graph::max_top> top_runs{};
  for (index_t i = 0; i < graph.ndim(); ++i) top_runs[i] = i == scattered ? 1 : runs[graph.top[i]];
  return choose_vector(encoding, top_runs, element_bytes);
}

/// How far a step along a hidden dimension moves in memory, in elements: factor, or factor times the run-time value in
/// a slot. Factor 0: not known, or not the same everywhere.
struct linear_step {
  index_t factor = 0, slot = -1;
};

TILEWRIGHT_HD constexpr linear_step step_along_hidden(const tensor_graph& graph, index_t id) {
  linear_step step{1, -1};
  for (index_t n = graph.nodes.size(); n-- > 0;) {  // down to memory, through the nodes on the way
    const graph_node& node = graph.nodes[n];
    index_t upper = 0;
    while (upper < node.upper.size() && node.upper[upper] != id) ++upper;
    if (upper == node.upper.size()) continue;
    const auto times = [&](index_t i) {
      if (node.spec.parameters[i] != dynamic) {
        step.factor = detail::multiply(step.factor, node.spec.parameters[i]);
      } else if (step.slot < 0) {
        step.slot = node.value_slot(i);
      } else {
        step.factor = 0;
      }
    };
    switch (node.spec.kind) {
      case transform_kind::pass_through:
      case transform_kind::pad:
      case transform_kind::offset:
      case transform_kind::slice: break;
      case transform_kind::embed: times(node.upper.size() + upper); break;
      case transform_kind::unmerge:
        for (index_t i = upper + 1; i < node.upper.size(); ++i) times(i);
        break;
      default: return {};
    }
    id = node.lower[0];
  }
  return step;
}
/// The same for a dimension of the user's.
TILEWRIGHT_HD constexpr linear_step step_along(const tensor_graph& graph, index_t dim) {
  return step_along_hidden(graph, graph.top[dim]);
}

/// Accesses of one thread; offsets in elements.
template <index_t NumAccess, index_t NDimX>
struct access_list {
  address_rule rule = address_rule::independent;
  vector_choice vector;
  index_t num_bases = 1;
  array<multi_index<NDimX>, NumAccess> x{};    // position of the access, less the thread's own position
  array<index_t, NumAccess> first_register{};  // where its first element goes
  array<index_t, NumAccess> base{};            // which address it starts from
  array<index_t, NumAccess> immediate{};       // constant distance from that address
  array<index_t, NumAccess> flipped_bits{};    // xor_groups: what base b flips in the first address
};

namespace detail {

/// Where the accesses lie in the tile and in the registers: y in row-major order,
/// the vector's dimension in steps of the vector.
template <index_t NumAccess, index_t NDimX>
constexpr void place_accesses(access_list<NumAccess, NDimX>& list, const distribution_encoding& e) {
  struct axis {
    index_t x, x_step, register_step, accesses;
  };
  array<axis, distribution_encoding::max_y> axes{};
  index_t num_registers = 1;
  for (index_t i = e.ndim_y(); i-- > 0;) {
    const index_t scalars = i == list.vector.dim_y ? list.vector.length : 1, length = e.y_length(i);
    axes[i] = {e.y[i].major - 1, scalars * e.stride(e.y[i]), scalars * num_registers, length / scalars};
    num_registers *= length;
  }
  index_t filled = 1;  // the accesses along the dimensions of y seen so far; the next one repeats them, moved
  for (index_t i = e.ndim_y(); i-- > 0;) {
    const axis a = axes[i];
    for (index_t access = filled; access < filled * a.accesses; ++access) {
      list.x[access] = list.x[access - filled];
      list.x[access][a.x] += a.x_step;
      list.first_register[access] = list.first_register[access - filled] + a.register_step;
    }
    filled *= a.accesses;
  }
}

/// Addresses of a static linear descriptor: all differ by constants, so many for a step along each dimension.
template <index_t NumAccess, index_t NDimX>
constexpr void derive_by_addition(access_list<NumAccess, NDimX>& list, const multi_index<NDimX>& step) {
  list.rule = address_rule::constant_steps;
  list.num_bases = 1;
  for (index_t i = 0; i < NumAccess; ++i) {
    list.base[i] = 0;
    for (index_t x = 0; x < NDimX; ++x) list.immediate[i] += list.x[i][x] * step[x];
  }
}

/// Offsets of the single bits of an index, of a static descriptor that is linear over bits: bit[x][b] of index 1 << b
/// along dimension x.
template <index_t NDimX>
struct bit_offsets {
  array<inplace_vector<index_t, 31>, NDimX> bit;
};
template <tensor_graph Graph>
constexpr bit_offsets<Graph.ndim()> find_bit_offsets() {
  constexpr tensor_descriptor<Graph> descriptor{};
  bit_offsets<Graph.ndim()> result;
  for (index_t x = 0; x < Graph.ndim(); ++x) {
    const index_t length = hidden_length(Graph, Graph.top[x]);
    for (index_t b = 0; (length - 1) >> b != 0; ++b) {
      multi_index<Graph.ndim()> unit{};
      unit[x] = 1 << b;
      result.bit[x].push_back(descriptor.calculate_offset(unit));
    }
  }
  return result;
}

// A template argument is computed once; the initialiser of a variable three times by clang, for device code. But g++ 12
// leaves out zeros inside of arrays when it mangles a template argument, so that two of these would share a symbol.
#if defined(__clang__)
template <auto Value>
inline constexpr const auto& object_of = Value;
template <tensor_graph Graph>
inline constexpr const auto& bit_offsets_v = object_of<find_bit_offsets<Graph>()>;
#else
template <tensor_graph Graph>
inline constexpr auto bit_offsets_v = find_bit_offsets<Graph>();
#endif

/// Addresses of such a descriptor, of a tile whose factors are powers of two.
template <index_t NumAccess, index_t NDimX>
constexpr void derive_by_xor(access_list<NumAccess, NDimX>& list, const distribution_encoding& e,
                             const bit_offsets<NDimX>& offsets) {
  // The bits of the offset that the thread or the tile's origin may set.
  index_t variable_bits = 0;
  for (index_t x = 0; x < NDimX; ++x) {
    index_t own_bits = 0;  // bits of this coordinate that y sets
    for (rh_id id : e.y) {
      if (id.major == x + 1) own_bits |= (e.length(id) - 1) * e.stride(id);
    }
    for (index_t b = 0; b < offsets.bit[x].size(); ++b) variable_bits |= own_bits >> b & 1 ? 0 : offsets.bit[x][b];
  }
  list.rule = address_rule::xor_groups;
  list.num_bases = 0;
  array<index_t, NumAccess> offset{};
  for (index_t i = 0; i < NumAccess; ++i) {
    const index_t lowest_bit = i & -i;
    if (i == lowest_bit) {
      for (index_t x = 0; x < NDimX; ++x) {
        for (index_t b = 0; list.x[i][x] >> b != 0; ++b) offset[i] ^= list.x[i][x] >> b & 1 ? offsets.bit[x][b] : 0;
      }
    } else {
      offset[i] = offset[i - lowest_bit] ^ offset[lowest_bit];
    }
    const index_t flipped = offset[i] & variable_bits;
    index_t b = 0;
    while (b < list.num_bases && list.flipped_bits[b] != flipped) ++b;
    if (b == list.num_bases) list.flipped_bits[list.num_bases++] = flipped;
    list.base[i] = b;
    list.immediate[i] = offset[i] & ~variable_bits;
  }
}

}  // namespace detail

/// The plan of a static or dynamic descriptor under a distribution.
/// xor_groups assumes that the tile's origin is a multiple of the tile's lengths.
template <tensor_graph Graph, distribution_encoding Encoding, vector_choice Vector>
constexpr auto make_access_list() {
  constexpr index_t num_access = Encoding.num_elements_per_thread() / Vector.length;
  access_list<num_access, Encoding.ndim_x()> list;
  list.vector = Vector;
  detail::place_accesses(list, Encoding);
  list.num_bases = num_access;
  for (index_t i = 0; i < num_access; ++i) list.base[i] = i;
  if constexpr (is_linear(Graph)) {
    list.rule = address_rule::uniform_steps;
    if constexpr (Graph.num_values == 0) {
      constexpr tensor_descriptor<Graph> descriptor{};
      multi_index<Graph.ndim()> step{};
      for (index_t x = 0; x < Graph.ndim(); ++x) {
        multi_index<Graph.ndim()> unit{};
        unit[x] = 1;
        step[x] = descriptor.calculate_offset(unit) - descriptor.calculate_offset({});
      }
      detail::derive_by_addition(list, step);
    }
  } else if constexpr (Graph.num_values == 0 && is_f2_linear(Graph)) {
    bool powers_of_two = true;
    for (const auto& h : Encoding.h) {
      for (index_t f : h) powers_of_two = powers_of_two && is_power_of_two(f);
    }
    if (powers_of_two) detail::derive_by_xor(list, Encoding, detail::bit_offsets_v<Graph>);
  }
  return list;
}

/// The list as a constant.
template <tensor_graph Graph, distribution_encoding Encoding, index_t ElementBytes>
struct access_plan {
  static constexpr vector_choice vector = number<choose_vector(Graph, Encoding, ElementBytes)>::value;
#if defined(__clang__)
  static constexpr const auto& list = detail::object_of<make_access_list<Graph, Encoding, vector>()>;
#else
  static constexpr auto list = make_access_list<Graph, Encoding, vector>();
#endif
};

}  // namespace tilewright
