// SPDX-License-Identifier: MIT
// The cost of an LDS instruction whose addresses are linear over the bits of the lane, from a rank.
#pragma once

#include <tilewright/descriptor/offset_analysis.hpp>
#include <tilewright/lds/bank_conflicts.hpp>
#include <tilewright/util/math.hpp>

namespace tilewright::detail {

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

}  // namespace tilewright::detail
