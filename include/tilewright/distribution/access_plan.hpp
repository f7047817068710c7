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

/// The vector that a distribution and a descriptor allow.
TILEWRIGHT_HD constexpr vector_choice choose_vector(const tensor_graph& graph, const distribution_encoding& encoding,
                                                    index_t element_bytes) {
  const auto runs = contiguous_runs(graph, 1 << 20);
  array<index_t, tensor_graph::max_top> top_runs{};
  for (index_t i = 0; i < graph.ndim(); ++i) top_runs[i] = runs[graph.top[i]];
  return choose_vector(encoding, top_runs, element_bytes);
}

/// How far a step along a dimension moves in memory, in elements: factor, or factor times the run-time value in a slot. Factor 0: not
/// known, or not the same everywhere.
struct linear_step {
  index_t factor = 0, slot = -1;
};

TILEWRIGHT_HD constexpr linear_step step_along(const tensor_graph& graph, index_t dim) {
  array<linear_step, tensor_graph::max_hidden> step{};
  for (index_t bottom = 0; bottom < graph.num_bottom; ++bottom) step[bottom].factor = 1;
  for (const graph_node& node : graph.nodes) {  // from memory upwards
    const auto& p = node.spec.parameters;
    const index_t n = node.upper.size();
    linear_step below =
        node.lower.size() == 1 ? step[node.lower[0]] : linear_step{};  // of the last upper dimension of an unmerge
    for (index_t i = n; i-- > 0;) {
      linear_step& above = step[node.upper[i]];
      switch (node.spec.kind) {
        case transform_kind::pass_through:
        case transform_kind::pad:
        case transform_kind::offset:
        case transform_kind::slice: above = below; break;
        case transform_kind::embed:
          above = below;
          if (p[n + i] != dynamic) {
            above.factor *= p[n + i];
          } else if (below.slot < 0) {
            above.slot = node.value_slot(n + i);
          } else {
            above = {};
          }
          break;
        case transform_kind::unmerge:
          above = below;
          below = p[i] == dynamic ? linear_step{} : linear_step{detail::multiply(below.factor, p[i]), below.slot};
          break;
        default: break;
      }
    }
  }
  return step[graph.top[dim]];
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

/// Where the accesses lie in the tile and in the registers: y in row-major order, the vector's dimension in steps of the vector.
template <index_t NumAccess, index_t NDimX>
TILEWRIGHT_HD constexpr void place_accesses(access_list<NumAccess, NDimX>& list, const distribution_encoding& e) {
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

/// Addresses of a static linear descriptor: all differ by constants.
template <tensor_graph Graph, index_t NumAccess, index_t NDimX>
TILEWRIGHT_HD constexpr void derive_by_addition(access_list<NumAccess, NDimX>& list) {
  constexpr tensor_descriptor<Graph> descriptor{};
  const index_t origin = descriptor.calculate_offset({});
  multi_index<NDimX> step{};
  for (index_t x = 0; x < NDimX; ++x) {
    multi_index<NDimX> unit{};
    unit[x] = 1;
    step[x] = descriptor.calculate_offset(unit) - origin;
  }
  list.rule = address_rule::constant_steps;
  list.num_bases = 1;
  for (index_t i = 0; i < NumAccess; ++i) {
    list.base[i] = 0;
    for (index_t x = 0; x < NDimX; ++x) list.immediate[i] += list.x[i][x] * step[x];
  }
}

/// Addresses of a static descriptor that is linear over bits, of a tile whose factors are powers of two.
template <tensor_graph Graph, index_t NumAccess, index_t NDimX>
TILEWRIGHT_HD constexpr void derive_by_xor(access_list<NumAccess, NDimX>& list, const distribution_encoding& e) {
  constexpr tensor_descriptor<Graph> descriptor{};
  // The bits of the offset that the thread or the tile's origin may set.
  index_t variable_bits = 0;
  for (index_t x = 0; x < NDimX; ++x) {
    index_t own_bits = 0;  // bits of this coordinate that y sets
    for (rh_id id : e.y) {
      if (id.major == x + 1) own_bits |= (e.length(id) - 1) * e.stride(id);
    }
    const index_t length = hidden_length(Graph, Graph.top[x]);
    for (index_t bit = 1; bit < length; bit <<= 1) {
      if (bit & own_bits) continue;
      multi_index<NDimX> unit{};
      unit[x] = bit;
      variable_bits |= descriptor.calculate_offset(unit);
    }
  }
  list.rule = address_rule::xor_groups;
  list.num_bases = 0;
  array<index_t, NumAccess> offset{};
  for (index_t i = 0; i < NumAccess; ++i) {
    const index_t lowest_bit = i & -i;
    offset[i] = i == lowest_bit ? descriptor.calculate_offset(list.x[i]) : offset[i - lowest_bit] ^ offset[lowest_bit];
    const index_t flipped = offset[i] & variable_bits;
    index_t b = 0;
    while (b < list.num_bases && list.flipped_bits[b] != flipped) ++b;
    if (b == list.num_bases) list.flipped_bits[list.num_bases++] = flipped;
    list.base[i] = b;
    list.immediate[i] = offset[i] & ~variable_bits;
  }
}

}  // namespace detail

/// The plan of a static or dynamic descriptor under a distribution. xor_groups assumes that the tile's origin is a multiple of
/// the tile's lengths.
template <tensor_graph Graph, distribution_encoding Encoding, vector_choice Vector>
TILEWRIGHT_HD constexpr auto make_access_list() {
  constexpr index_t num_access = Encoding.num_elements_per_thread() / Vector.length;
  access_list<num_access, Encoding.ndim_x()> list;
  list.vector = Vector;
  detail::place_accesses(list, Encoding);
  list.num_bases = num_access;
  for (index_t i = 0; i < num_access; ++i) list.base[i] = i;
  if constexpr (is_linear(Graph)) {
    list.rule = address_rule::uniform_steps;
    if constexpr (Graph.num_values == 0) detail::derive_by_addition<Graph>(list);
  } else if constexpr (Graph.num_values == 0 && is_f2_linear(Graph)) {
    bool powers_of_two = true;
    for (const auto& h : Encoding.h) {
      for (index_t f : h) powers_of_two = powers_of_two && is_power_of_two(f);
    }
    if (powers_of_two) detail::derive_by_xor<Graph>(list, Encoding);
  }
  return list;
}

/// The list as a constant. With clang it is a template argument, computed once instead of three times. g++ 12 leaves out zeros inside of
/// arrays when it mangles one, so that two lists would share a symbol.
#if defined(__clang__)
namespace detail {
template <auto Value>
inline constexpr const auto& object_of = Value;
}
#endif
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
