// SPDX-License-Identifier: MIT
// What a tile access costs in LDS: the instructions that it becomes and the conflicts of each, for a layout and a distribution.
#pragma once

#include <tilewright/distribution/access_plan.hpp>
#include <tilewright/lds/bank_conflicts.hpp>

namespace tilewright {

/// How a tile window touches LDS.
enum class lds_access_kind : signed char { read, write, ldmatrix };

/// Cost of one tile access by a whole block, and where the worst instruction is.
struct lds_access_analysis {
  arch::lds_op op = arch::lds_op::read_b32;
  index_t executions = 0;    // instructions, each by one wave
  index_t phases = 0;        // cycles without conflicts
  index_t cycles = 0;
  index_t conflicts = 0;     // extra cycles
  index_t worst_degree = 0;  // 1: free of conflicts

  // The first instruction with the worst degree: who meets whom where.
  index_t wave = 0, access = 0, phase = 0, bank = 0;
  array<index_t, 2> lanes{};
  array<multi_index<2>, 2> coordinates{};  // of the first element that each of the two lanes accesses; 2-D tiles only

  TILEWRIGHT_HD constexpr bool is_conflict_free() const { return worst_degree == 1; }
  friend constexpr bool operator==(const lds_access_analysis&, const lds_access_analysis&) = default;
};

namespace detail {

/// Whether all instructions of an access cost the same: where addresses are F2-linear, those of two instructions differ by
/// the XOR with a constant, which permutes the banks.
TILEWRIGHT_HD constexpr bool all_accesses_cost_the_same(const tensor_graph& graph, const distribution_encoding& encoding) {
  for (const auto& h : encoding.h) {
    for (index_t factor : h) {
      if (!is_power_of_two(factor)) return false;
    }
  }
  return is_f2_linear(graph);
}

}  // namespace detail

/// Analyses the access to a window of a static descriptor (offsets in elements of element_bytes, from LDS byte 0) under a
/// distribution, by every wave of the block. Works at compile time and at run time.
template <tensor_graph Graph, distribution_encoding Encoding>
TILEWRIGHT_HD constexpr lds_access_analysis analyze_lds_access(const arch::target& target, const tensor_descriptor<Graph>& descriptor,
                                                               tile_distribution<Encoding>, index_t element_bytes, lds_access_kind kind,
                                                               lds_reading reading = lds_reading::worst) {
  using distribution = tile_distribution<Encoding>;
  static_assert(Graph.num_values == 0, "analyze_lds_access: the layout's lengths and strides must be known at compile time");
  const vector_choice vector = choose_vector<Graph, Encoding>(element_bytes);
  const auto walk = access_curve<Encoding>(vector, false);
  const index_t bytes = vector.length * element_bytes;
  constexpr index_t ndim = Encoding.ndim_x();
  constexpr bool one_wave = Encoding.ndim_p() == 1;
  const index_t num_waves = one_wave ? 1 : Encoding.p_length(0), lanes = Encoding.p_length(Encoding.ndim_p() - 1);
  const index_t num_access = walk.get_num_of_access();
  // What one analysed instruction stands for.
  const index_t times = detail::all_accesses_cost_the_same(Graph, Encoding) ? num_waves * num_access : 1;

  lds_access_analysis result;
  result.op = kind == lds_access_kind::ldmatrix ? arch::lds_op::ldmatrix
              : kind == lds_access_kind::write  ? arch::lds_write_op(bytes)
                                                : arch::lds_read_op(bytes);
  for (index_t wave = 0; wave < num_waves; ++wave) {
    for (index_t access = 0; access < num_access; ++access) {
      if (times > 1 && result.executions > 0) return result;
      const auto of_y = distribution::y_to_x(walk.get_index(access));
      lds_addresses addresses{};
      for (index_t lane = 0; lane < addresses.size(); ++lane) addresses[lane] = -1;
      const auto position = [&](index_t lane) {
        multi_index<Encoding.ndim_p()> p{};
        p[0] = wave;
        p[Encoding.ndim_p() - 1] = lane;
        multi_index<ndim> x = distribution::calculate_index(p);
        for (index_t d = 0; d < ndim; ++d) x[d] += of_y[d];
        return x;
      };
      for (index_t lane = 0; lane < lanes; ++lane) addresses[lane] = descriptor.calculate_offset(position(lane)) * element_bytes;
      const lds_access_cost cost = lds_cost(target, result.op, addresses, reading);
      result.executions += times;
      result.phases += times * cost.phases;
      result.cycles += times * cost.cycles;
      result.conflicts += times * cost.conflicts;
      if (cost.worst_degree <= result.worst_degree) continue;
      result.worst_degree = cost.worst_degree;
      result.wave = wave;
      result.access = access;
      result.phase = cost.phase;
      result.bank = cost.bank;
      result.lanes = cost.lanes;
      if constexpr (ndim == 2) result.coordinates = {position(cost.lanes[0]), position(cost.lanes[1])};
    }
  }
  return result;
}

/// The same with the target as a type.
template <class Arch, class Descriptor, class Distribution>
TILEWRIGHT_HD constexpr lds_access_analysis analyze_lds_access(const Descriptor& descriptor, Distribution distribution,
                                                               index_t element_bytes, lds_access_kind kind,
                                                               lds_reading reading = lds_reading::worst) {
  constexpr arch::target target = Arch::value;
  return analyze_lds_access(target, descriptor, distribution, element_bytes, kind, reading);
}

}  // namespace tilewright
