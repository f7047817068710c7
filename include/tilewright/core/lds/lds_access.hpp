// SPDX-License-Identifier: MIT
// What a tile access costs in LDS: the instructions that it becomes and the conflicts of each,
// for a layout and a distribution.
#pragma once

#include <tilewright/core/base/math.hpp>
#include <tilewright/core/descriptor/offset_analysis.hpp>
#include <tilewright/core/lds/bank_conflicts.hpp>
#include <tilewright/core/lds/lds_access_pattern.hpp>

namespace tilewright {

/// Cost of one tile access by a whole block, and where the worst instruction is. Every thread moves vectors of one
/// width, so the access is `executions` instructions of one kind.
struct lds_access_analysis : lds_access_cost {
  arch::lds_op op = arch::lds_op::read_b32;  ///< the instruction
  index_t executions = 0;                    ///< instructions, each by one wave; costs are those of all of them

  // The first instruction with the worst degree.
  index_t wave = 0, access = 0;            ///< of the first instruction with the worst degree
  array<multi_index<2>, 2> coordinates{};  ///< of the first element that each of the two lanes accesses; 2-D tiles only

  /// Whether no lanes of a phase want different dwords of a bank.
  TILEWRIGHT_HD constexpr bool is_conflict_free() const { return worst_degree == 1; }
  friend constexpr bool operator==(const lds_access_analysis&, const lds_access_analysis&) = default;
};

namespace detail {

/// The cost where lane l addresses byte c ^ (xor of address_of_bit[i] over the bits i that are set in l), all lanes are
/// active, and addresses are multiples of `bytes`, a power of two. A phase is a coset of the space V that the first
/// lane_bits span. With A for the addresses, in units of an access or of a dword, and P for their bank bits, its lanes
/// want 2^rank(A|V) units in 2^rank(P A|V) banks, as many in each; so its degree is 2^(rank(A|V) - rank(P A|V)), in
/// every phase and for every c. Phase, bank and lanes are those of lane 0: who conflicts is not found here.
TILEWRIGHT_HD constexpr lds_access_cost linear_lds_cost(const arch::lds_service& row, index_t bytes, bool is_write,
                                                        const array<index_t, 6>& address_of_bit) {
  const arch::lds_service service = service_of(row, address_of_bit);
  const arch::lds_phases& phases = service.phases;
  const index_t unit_shift = max(2, log2_floor(bytes)), dwords_per_unit = 1 << (unit_shift - 2);
  const unsigned bank_mask = unsigned(service.banks / dwords_per_unit - 1);
  const index_t dimension = log2_floor(phases.lanes_per_phase);
  array<unsigned, 6> units{}, banks{};
  for (index_t i = 0; i < dimension; ++i) {
    unsigned address = 0;
    for (index_t bit = 0; bit < 6; ++bit)
      address ^= (phases.lane_bit[i] >> bit & 1) ? unsigned(address_of_bit[bit]) : 0;
    units[i] = address >> unit_shift;
    banks[i] = units[i] & bank_mask;
  }
  const index_t rank = f2_rank(units, dimension);
  lds_access_cost cost;
  cost.worst_degree = 1 << (rank - f2_rank(banks, dimension));
  cost.phases = phases.num_phases();
  cost.cycles = cost.phases * cost.worst_degree;
  cost.conflicts = cost.cycles - cost.phases;
  cost.clocks = service.clocks == 0 ? 0 : service.clocks + cost.conflicts;
  cost.same_dword_writes = is_write ? cost.phases * (phases.lanes_per_phase - (1 << rank)) * dwords_per_unit : 0;
  cost.known_by = service.known_by;
  return cost;
}

TILEWRIGHT_HD constexpr lds_access_cost cost_by_rank(const arch::lds_instruction& row, lds_reading reading,
                                                     index_t bytes, bool is_write, const lds_access_pattern& pattern) {
  const array<index_t, 6> address_of_bit = pattern.address_of_lane_bit();
  return cost_of_row(row, reading, [&](const arch::lds_service& service) {
    lds_access_cost cost = linear_lds_cost(service, bytes, is_write, address_of_bit);
    if (cost.worst_degree > 1) return lds_cost(service, bytes, is_write, pattern.addresses(0, 0));
    cost.bank = pattern.first_address(0, 0) / arch::lds_bank_bytes % service.banks;
    return cost;
  });
}

/// Costs of instructions whose lanes have the same distances: they depend on the place
/// of the first lane in a row of banks.
class cost_by_place {
 public:
  TILEWRIGHT_HD constexpr const lds_access_cost* find(index_t address) const {
    const index_t known = number_[unsigned(address) % period];
    return known == 0 ? nullptr : &costs_[known - 1];
  }
  TILEWRIGHT_HD constexpr void remember(index_t address, const lds_access_cost& cost) {
    if (costs_.size() == costs_.capacity()) return;
    costs_.push_back(cost);
    number_[unsigned(address) % period] = static_cast<signed char>(costs_.size());
  }

 private:
  static constexpr unsigned period = 256;  // bytes of the longest row of banks
  signed char number_[period] = {};
  inplace_vector<lds_access_cost, 32> costs_;
};

TILEWRIGHT_HD constexpr lds_access_analysis analyze_access_pattern(const arch::target& target,
                                                                   const lds_access_pattern& pattern,
                                                                   lds_access_kind kind, lds_reading reading) {
  const index_t bytes = pattern.bytes_per_lane(), instructions = pattern.num_waves() * pattern.num_access();
  lds_access_analysis result;
  result.op = lds_op_of(kind, bytes, pattern.element_bytes());
  const arch::lds_instruction* row = target.find(result.op);
  if (row == nullptr) detail::target_has_no_such_lds_instruction();
  const bool is_write = kind == lds_access_kind::write || kind == lds_access_kind::stmatrix;

  const auto add = [&](const lds_access_cost& cost, index_t times, index_t wave, index_t access) {
    result.executions += times;
    if (!result.add(cost, times)) return;
    result.wave = wave;
    result.access = access;
    for (index_t i = 0; i < 2 && pattern.ndim_x() == 2; ++i) {
      const auto x = pattern.position_of(wave, cost.lanes[i], access);
      result.coordinates[i] = {{x[0], x[1]}};
    }
  };
  using rule = lds_access_pattern::addresses_are;
  // Addresses of two instructions differ by the XOR with a constant, which permutes the banks: all cost the same.
  if (pattern.rule() == rule::xor_of_terms && pattern.num_lanes() == target.wave_size) {
    add(detail::cost_by_rank(*row, reading, bytes, is_write, pattern), instructions, 0, 0);
    return result;
  }
  detail::cost_by_place known;
  const bool repeats = pattern.rule() == rule::sum_of_terms;
  for (index_t wave = 0; wave < pattern.num_waves(); ++wave) {
    for (index_t access = 0; access < pattern.num_access(); ++access) {
      const index_t first = repeats ? pattern.first_address(wave, access) : 0;
      if (const lds_access_cost* same = repeats ? known.find(first) : nullptr) {
        add(*same, 1, wave, access);
        continue;
      }
      const lds_access_cost cost = detail::cost_of_row(*row, reading, [&](const arch::lds_service& service) {
        return lds_cost(service, bytes, is_write, pattern.addresses(wave, access));
      });
      if (repeats) known.remember(first, cost);
      add(cost, 1, wave, access);
    }
  }
  return result;
}

}  // namespace detail

/// Analyses the access to a layout (offsets in elements of element_bytes, from LDS byte 0) under a distribution, by
/// every wave of the block. Layout and distribution are values: a graph without run-time values (see graph_of) and a
/// sound encoding. The target must have the instruction, and waves of as many lanes as the distribution.
/// Works at compile time and at run time.
TILEWRIGHT_HD constexpr lds_access_analysis analyze_lds_access(const arch::target& target, const tensor_graph& layout,
                                                               const distribution_encoding& distribution,
                                                               index_t element_bytes, lds_access_kind kind,
                                                               lds_reading reading = lds_reading::worst) {
  return detail::analyze_access_pattern(target, lds_access_pattern(layout, distribution, element_bytes), kind, reading);
}

/// The same for a descriptor and a distribution.
template <tensor_graph Graph, distribution_encoding Encoding>
TILEWRIGHT_HD constexpr lds_access_analysis analyze_lds_access(const arch::target& target,
                                                               const tensor_descriptor<Graph>& descriptor,
                                                               tile_distribution<Encoding>, index_t element_bytes,
                                                               lds_access_kind kind,
                                                               lds_reading reading = lds_reading::worst) {
  constexpr bool has_same_dimensions = Graph.ndim() == Encoding.ndim_x();
  static_assert(has_same_dimensions,
                "analyze_lds_access: the distribution has another number of dimensions than the layout");
  if constexpr (Graph.num_values == 0) {
    constexpr bool fits = [] {
      bool shorter = true;
      for (index_t d = 0; d < min(Encoding.ndim_x(), Graph.ndim()); ++d)
        shorter = shorter && Encoding.x_length(d) <= detail::hidden_length(Graph, Graph.top[d]);
      return shorter;
    }();
    static_assert(fits,
                  "analyze_lds_access: the distribution's tile is longer than the layout; distribute a tile that fits");
    return analyze_lds_access(target, Graph, Encoding, element_bytes, kind, reading);
  } else {
    return analyze_lds_access(target, graph_of(descriptor), Encoding, element_bytes, kind, reading);
  }
}

/// The same with the target as a type.
template <class Arch, class Descriptor, class Distribution>
TILEWRIGHT_HD constexpr lds_access_analysis analyze_lds_access(const Descriptor& descriptor, Distribution distribution,
                                                               index_t element_bytes, lds_access_kind kind,
                                                               lds_reading reading = lds_reading::worst) {
  constexpr index_t lanes = Distribution::encoding.p_length(Distribution::ndim_p - 1);
  constexpr index_t wave_size = Arch::value.wave_size;
  static_assert(lanes <= wave_size, "analyze_lds_access: the distribution has more lanes than a wave of the target");
  constexpr arch::target target = Arch::value;
  return analyze_lds_access(target, descriptor, distribution, element_bytes, kind, reading);
}

}  // namespace tilewright
