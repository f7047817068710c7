// SPDX-License-Identifier: MIT
// The accesses that a thread makes for its part of a tile, and which of their addresses differ by constants.
#pragma once

#include <tilewright/descriptor/offset_analysis.hpp>
#include <tilewright/descriptor/tensor_descriptor.hpp>
#include <tilewright/distribution/vector_choice.hpp>

namespace tilewright {

/// How the addresses of a thread's accesses follow from each other.
enum class address_rule : signed char {
  constant_steps,  // one address; the others differ by constants
  uniform_steps,   // by numbers that are the same for all threads, but known only at run time
  xor_groups,      // a few addresses that differ in bits; the others differ from one of them by constants
  independent,     // nothing is known
};

/// What the maker of a window says about its addresses, beyond what the view says.
struct address_plan {
  bool is_grouped = false;  // accesses share an address only where they differ along `linear` dimensions
  unsigned linear = 0;      // bit d: the offset grows by a constant along dimension d
  index_t gathered = -1;    // dimension whose indices come from a table; -1: none
  bool is_far = false;      // these indices may lead further than 2^31 bytes
  index_t rows_per_page =
      0;  // indices on a page of the table (`dynamic`: known at run time); 0: the table lists indices

  TILEWRIGHT_HD constexpr bool is_linear_along(index_t d) const { return linear >> d & 1; }
  friend constexpr bool operator==(const address_plan&, const address_plan&) = default;
};

namespace detail {

/// The vector that a distribution and a descriptor allow; none along dimension `scattered`.
TILEWRIGHT_HD constexpr vector_choice choose_vector(const tensor_graph& graph, const distribution_encoding& encoding,
                                                    index_t element_bytes, index_t scattered = -1) {
  const auto runs = contiguous_runs(graph, 1 << 20);
  array<index_t, tensor_graph::max_top> top_runs{};
  for (index_t i = 0; i < graph.ndim(); ++i) top_runs[i] = i == scattered ? 1 : runs[graph.top[i]];
  return choose_vector(encoding, top_runs, element_bytes);
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

/// The same for a grouped plan.
template <index_t NumAccess, index_t NDimX>
struct grouped_access_list : access_list<NumAccess, NDimX> {
  array<multi_index<NDimX>, NumAccess> base_x{};  // position of each base, less the thread's own position
};

/// Positions along the gathered dimension, in the order in which the table lists their indices.
template <index_t NumAccess>
struct gathered_positions {
  array<index_t, NumAccess> x{}, of_base{}, of_access{};
  index_t count = 0;
};

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

/// Bits of coordinate x that a thread's y set, for factors that are powers of two.
TILEWRIGHT_HD constexpr index_t bits_of_y(const distribution_encoding& e, index_t x) {
  index_t bits = 0;
  for (const rh_id id : e.y) bits |= id.major == x + 1 ? (e.length(id) - 1) * e.stride(id) : 0;
  return bits;
}

/// Addresses of a static linear descriptor: all differ by constants.
template <index_t NumAccess, index_t NDimX>
constexpr void derive_by_addition(access_list<NumAccess, NDimX>& list, const tensor_graph& graph) {
  list.rule = address_rule::constant_steps;
  list.num_bases = 1;
  list.base = {};
  for (index_t x = 0; x < NDimX; ++x) {
    const index_t step = index_t(step_along(graph, x).factor);
    for (index_t i = 0; i < NumAccess; ++i) list.immediate[i] += list.x[i][x] * step;
  }
}

/// Addresses that are shared along the static steps of the plan's linear dimensions.
template <index_t NumAccess, index_t NDimX>
constexpr void derive_by_groups(grouped_access_list<NumAccess, NDimX>& list, const tensor_graph& graph,
                                const address_plan& plan) {
  array<index_t, NDimX> stride{};
  for (index_t d = 0; d < NDimX; ++d) {
    const linear_step step = plan.is_linear_along(d) ? step_along(graph, d) : linear_step{};
    if (step.is_static()) stride[d] = index_t(step.factor);
  }
  list.num_bases = 0;
  for (index_t i = 0; i < NumAccess; ++i) {
    multi_index<NDimX> rest = list.x[i];
    for (index_t d = 0; d < NDimX; ++d) {
      list.immediate[i] += rest[d] * stride[d];
      if (stride[d] != 0) rest[d] = 0;
    }
    index_t b = 0;
    while (b < list.num_bases && !(list.base_x[b] == rest)) ++b;
    if (b == list.num_bases) list.base_x[list.num_bases++] = rest;
    list.base[i] = b;
  }
}

template <index_t NumAccess, index_t NDimX>
constexpr gathered_positions<NumAccess> find_gathered(const grouped_access_list<NumAccess, NDimX>& list, index_t dim) {
  gathered_positions<NumAccess> result;
  const auto find = [&](index_t x) {
    index_t k = 0;
    while (k < result.count && result.x[k] != x) ++k;
    if (k == result.count) result.x[result.count++] = x;
    return k;
  };
  for (index_t i = 0; i < NumAccess; ++i) result.of_access[i] = find(list.x[i][dim]);
  for (index_t b = 0; b < list.num_bases; ++b) result.of_base[b] = find(list.base_x[b][dim]);
  return result;
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

/// Addresses of a static descriptor that is linear over bits, of a tile whose factors are powers of two.
template <index_t NumAccess, index_t NDimX>
constexpr void derive_by_xor(access_list<NumAccess, NDimX>& list, const distribution_encoding& e,
                             const offset_bits<NDimX>& offsets) {
  array<index_t, NDimX> own{};
  for (index_t x = 0; x < NDimX; ++x) own[x] = bits_of_y(e, x);
  const index_t variable_bits = offsets.flipped_by_others(own);  // by the thread's position or the tile's origin
  list.rule = address_rule::xor_groups;
  list.num_bases = 0;
  array<index_t, NumAccess> offset{};
  for (index_t i = 0; i < NumAccess; ++i) {
    const index_t lowest_bit = i & -i;
    offset[i] = i == lowest_bit ? offsets.offset(list.x[i]) : offset[i - lowest_bit] ^ offset[lowest_bit];
    const index_t flipped = offset[i] & variable_bits;
    index_t b = 0;
    while (b < list.num_bases && list.flipped_bits[b] != flipped) ++b;
    if (b == list.num_bases) list.flipped_bits[list.num_bases++] = flipped;
    list.base[i] = b;
    list.immediate[i] = offset[i] & ~variable_bits;
  }
}

/// The accesses to a descriptor under a distribution. xor_groups assumes that the tile's origin is a multiple of the
/// tile's lengths.
template <tensor_graph Graph, distribution_encoding Encoding, vector_choice Vector, address_plan Plan>
constexpr auto make_access_list() {
  constexpr index_t num_access = Encoding.num_elements_per_thread() / Vector.length;
  if constexpr (Plan.is_grouped) {
    grouped_access_list<num_access, Encoding.ndim_x()> list;
    list.vector = Vector;
    detail::place_accesses(list, Encoding);
    detail::derive_by_groups(list, Graph, Plan);
    return list;
  } else {
    access_list<num_access, Encoding.ndim_x()> list;
    list.vector = Vector;
    detail::place_accesses(list, Encoding);
    list.num_bases = num_access;
    for (index_t i = 0; i < num_access; ++i) list.base[i] = i;
    if constexpr (is_linear(Graph)) {
      list.rule = address_rule::uniform_steps;
      if constexpr (Graph.num_values == 0) detail::derive_by_addition(list, Graph);
    } else if constexpr (Graph.num_values == 0 && is_f2_linear(Graph)) {
      bool powers_of_two = true;
      for (const auto& h : Encoding.h) {
        for (index_t f : h) powers_of_two = powers_of_two && is_power_of_two(f);
      }
      if (powers_of_two) detail::derive_by_xor(list, Encoding, detail::offset_bits_v<Graph>);
    }
    return list;
  }
}

}  // namespace detail

/// The list as a constant.
template <tensor_graph Graph, distribution_encoding Encoding, index_t ElementBytes, address_plan Plan = address_plan{}>
struct access_plan {
  static constexpr address_plan plan = Plan;
  static constexpr vector_choice vector =
      number<detail::choose_vector(Graph, Encoding, ElementBytes, Plan.gathered)>::value;
#if defined(__clang__)
  static constexpr const auto& list = detail::object_of<detail::make_access_list<Graph, Encoding, vector, Plan>()>;
#else
  static constexpr auto list = detail::make_access_list<Graph, Encoding, vector, Plan>();
#endif
};

namespace detail {

/// Positions along the gathered dimension of a plan that has one.
template <class Accesses>
inline constexpr auto gathered_positions_v = detail::find_gathered(Accesses::list, Accesses::plan.gathered);

}  // namespace detail

}  // namespace tilewright
