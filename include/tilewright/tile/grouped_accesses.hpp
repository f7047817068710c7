// SPDX-License-Identifier: MIT
// Accesses of a thread that share an address register, because they differ only along dimensions with constant strides.
#pragma once

#include <tilewright/distribution/access_plan.hpp>

namespace tilewright {

/// The accesses of one thread, in row-major order of y.
template <index_t NumAccess, index_t NDimX>
struct grouped_access_list {
  array<multi_index<NDimX>, NumAccess> x{};  // position of the access, less the thread's own position
  array<index_t, NumAccess> first_register{};
  array<index_t, NumAccess> immediate{};           // elements from the address of its group
  array<index_t, NumAccess> base{};                // its group
  array<multi_index<NDimX>, NumAccess> group_x{};  // position of each group's address
  index_t num_groups = 0;
};

/// Linear: dimensions along which offsets grow by a constant for each step. Gathered: the dimension whose index comes
/// from a table, or
/// -1; vectors cannot run along it.
template <tensor_graph Graph, distribution_encoding Encoding, index_t ElementBytes, index_t Gathered, index_t... Linear>
struct grouped_accesses {
  static constexpr index_t ndim = Encoding.ndim_x();

  static constexpr vector_choice vector = choose_vector(Graph, Encoding, ElementBytes, Gathered);

  static constexpr auto list = [] {
    using distribution = tile_distribution<Encoding>;
    constexpr auto walk = access_curve<Encoding.ndim_y()>(Encoding, vector, false);
    constexpr index_t num_access = walk.get_num_of_access();
    multi_index<ndim> stride{};
    for (index_t d = 0; d < ndim; ++d) {
      const bool is_linear_dim = ((d == Linear) || ...);
      const linear_step step = is_linear_dim ? step_along(Graph, d) : linear_step{};
      if (step.is_static()) stride[d] = index_t(step.factor);
    }
    grouped_access_list<num_access, ndim> result;
    for (index_t i = 0; i < num_access; ++i) {
      const auto y = walk.get_index(i);
      result.x[i] = distribution::y_to_x(y);
      result.first_register[i] = distribution::y_to_register(y);
      multi_index<ndim> rest = result.x[i];
      for (index_t d = 0; d < ndim; ++d) {
        if (stride[d] == 0) continue;
        result.immediate[i] += rest[d] * stride[d];
        rest[d] = 0;
      }
      index_t g = 0;
      while (g < result.num_groups && !(result.group_x[g] == rest)) ++g;
      if (g == result.num_groups) result.group_x[result.num_groups++] = rest;
      result.base[i] = g;
    }
    return result;
  }();
  static constexpr index_t num_access = list.base.size();

  /// Positions along the gathered dimension, in the order in which a table lists their indices.
  struct pages {
    array<index_t, num_access> x{};
    array<index_t, num_access> of_group{};
    array<index_t, num_access> of_access{};
    index_t count = 0;
  };
  static constexpr pages page = [] {
    pages result;
    if (Gathered < 0) return result;
    const auto find = [&](index_t x) {
      index_t k = 0;
      while (k < result.count && result.x[k] != x) ++k;
      if (k == result.count) result.x[result.count++] = x;
      return k;
    };
    for (index_t i = 0; i < num_access; ++i) result.of_access[i] = find(list.x[i][Gathered < 0 ? 0 : Gathered]);
    for (index_t g = 0; g < list.num_groups; ++g)
      result.of_group[g] = find(list.group_x[g][Gathered < 0 ? 0 : Gathered]);
    return result;
  }();
};

}  // namespace tilewright
