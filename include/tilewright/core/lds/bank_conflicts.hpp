// SPDX-License-Identifier: MIT
// What one LDS instruction of one wave costs: how many words one bank must deliver in each phase.
#pragma once

#include <tilewright/core/arch/target.hpp>
#include <tilewright/core/base/math.hpp>
#include <tilewright/core/base/trap.hpp>

namespace tilewright {

/// Cost of one instruction of one wave. The degree of a phase is the most distinct
/// dwords that one bank must serve in it.
struct lds_access_cost {
  index_t phases = 0;        ///< with at least one active lane: the cost without conflicts
  index_t cycles = 0;        ///< sum over those phases of the degree
  index_t conflicts = 0;     ///< cycles - phases; what SQ_LDS_BANK_CONFLICT counts on CDNA
  index_t worst_degree = 0;  ///< 1: no conflict; 0: no lane is active
  index_t clocks = 0;        ///< of an instruction without conflicts, and one for each conflict; 0: not known
  /// Lanes of one phase that write to the same dword are counted as one write. What the hardware does then is not
  /// known, and with 4 bytes per lane or more the program has a race.
  /// This is how many dword writes were dropped from the count.
  index_t same_dword_writes = 0;

  // Where the worst degree occurs first.
  index_t phase = 0;  ///< where the worst degree occurs first
  index_t bank = 0;   ///< where the worst degree occurs first
  array<index_t, 2> lanes{
      {0, 0}};  ///< two lanes that want different dwords of this bank; equal if there is no conflict

  arch::grade known_by = arch::grade::unknown;  ///< of the table row that this cost rests on

  /// Adds the cost of an instruction that is executed some times. True if its degree is the worst so far.
  TILEWRIGHT_HD constexpr bool add(const lds_access_cost& other, index_t times) {
    phases += times * other.phases;
    cycles += times * other.cycles;
    conflicts += times * other.conflicts;
    clocks += times * other.clocks;
    same_dword_writes += times * other.same_dword_writes;
    if (other.worst_degree <= worst_degree) return false;
    worst_degree = other.worst_degree;
    phase = other.phase;
    bank = other.bank;
    lanes = other.lanes;
    known_by = other.known_by;
    return true;
  }
  friend constexpr bool operator==(const lds_access_cost&, const lds_access_cost&) = default;
};

/// Which reading of a disputed row to believe; worst: every number is the larger one. Rows with one reading ignore
/// this.
enum class lds_reading : signed char { worst, first, second };

/// Byte address of each lane; negative: the lane is inactive. Places from the wave size on are not looked at.
using lds_addresses = array<index_t, 64>;

namespace detail {

/// Whether the rule of lds_service::merges_where_lanes_share holds for these addresses.
TILEWRIGHT_HD constexpr bool lanes_share(const arch::lds_service& service, const lds_addresses& address) {
  if (!service.merges_where_lanes_share) return false;
  bool with_next = true, with_second = true;
  for (index_t lane = 0; lane < service.phases.wave_size; ++lane) {
    const auto share = [&](index_t other) {
      return address[lane] == address[other] || address[lane] < 0 || address[other] < 0;
    };
    with_next = with_next && share(lane ^ 1);
    with_second = with_second && share(lane ^ 2);
  }
  return with_next || with_second;
}

/// How a row of a target's table serves lanes whose addresses are linear, by the same rule.
template <class Address>
TILEWRIGHT_HD constexpr arch::lds_service service_of(const arch::lds_service& row,
                                                     const array<Address, 6>& address_of_bit) {
  const bool lanes_share = address_of_bit[0] == 0 || address_of_bit[1] == 0;
  return row.merges_where_lanes_share && lanes_share ? row.merged() : row;
}

/// Whether `bytes` is a power of two that divides each lane's address.
TILEWRIGHT_HD constexpr bool is_aligned(const lds_addresses& address, index_t lanes, index_t bytes) {
  unsigned unaligned = unsigned(bytes) & unsigned(bytes - 1);
  for (index_t lane = 0; lane < lanes; ++lane) {
    if (address[lane] >= 0) unaligned |= unsigned(address[lane]) & unsigned(bytes - 1);
  }
  return unaligned == 0;
}

}  // namespace detail

/// The cost if the LDS serves lanes as a row of a target's table says, for lanes that access `bytes` bytes each. Time
/// is linear in the lanes.
TILEWRIGHT_HD constexpr lds_access_cost lds_cost(const arch::lds_service& row, index_t bytes, bool is_write,
                                                 const lds_addresses& address) {
  const arch::lds_service service = detail::lanes_share(row, address) ? row.merged() : row;
  const arch::lds_phases& phases = service.phases;
  // Accesses that are as aligned as they are wide collide in all of their banks or in none, so they count as one unit.
  const bool whole = bytes > arch::lds_bank_bytes && detail::is_aligned(address, phases.wave_size, bytes);
  const index_t unit_shift = !whole ? 2 : bytes == 8 ? 3 : 4;
  const index_t dwords_per_unit = 1 << (unit_shift - 2);
  const unsigned bank_mask = unsigned(service.banks / dwords_per_unit - 1);

  // Units seen so far, chained by bank. Entries before `begin` belong to earlier phases and end a chain.
  struct seen_unit {
    index_t unit, lane, next;
  };
  seen_unit seen[64 * 5];
  index_t last_in_bank[64];
  for (unsigned i = 0; i <= bank_mask; ++i) last_in_bank[i] = -1;
  // From place p to p + 1 the bits up to the lowest set bit of p + 1 change.
  index_t step[7] = {};
  for (index_t i = 0; i < 6; ++i) step[i + 1] = step[i] ^ phases.lane_bit[i];

  lds_access_cost cost;
  cost.known_by = service.known_by;
  index_t lane = 0, end = 0;
  for (index_t position = 0; position < phases.wave_size;) {
    const index_t begin = end, phase = position / phases.lanes_per_phase, phase_end = position + phases.lanes_per_phase;
    index_t degree = 0;
    while (position < phase_end) {
      if (const index_t a = address[lane]; a >= 0) {
        const index_t last_unit = (a + bytes - 1) >> unit_shift;
        for (index_t unit = a >> unit_shift; unit <= last_unit; ++unit) {
          index_t& newest = last_in_bank[unsigned(unit) & bank_mask];
          index_t rivals = 0, i = newest;
          for (; i >= begin && seen[i].unit != unit; i = seen[i].next) ++rivals;
          if (i >= begin) {
            if (is_write) cost.same_dword_writes += dwords_per_unit;
            continue;
          }
          if (rivals + 1 > degree) degree = rivals + 1;
          if (degree > cost.worst_degree) {
            cost.worst_degree = degree;
            cost.phase = phase;
            cost.bank = index_t(unsigned(unit) & bank_mask) * dwords_per_unit;
            cost.lanes = {{rivals > 0 ? seen[newest].lane : lane, lane}};
          }
          seen[end] = {unit, lane, newest};
          newest = end++;
        }
      }
      ++position;
      lane ^= step[position == phases.wave_size ? 0 : detail::lowest_set_bit(unsigned(position)) + 1];
    }
    if (degree > 0) ++cost.phases;
    cost.cycles += degree;
  }
  cost.conflicts = cost.cycles - cost.phases;
  cost.clocks = service.clocks == 0 || cost.phases == 0 ? 0 : service.clocks + cost.conflicts;
  return cost;
}

namespace detail {

// Reaching this in a constant expression is the error: see target::supports.
TILEWRIGHT_HD void target_has_no_such_lds_instruction() { trap(); }

/// One reading of a row, or of both the costlier one; its worst degree, and where that occurs, are the worst of both.
template <class CostOf>
TILEWRIGHT_HD constexpr lds_access_cost cost_of_row(const arch::lds_instruction& row, lds_reading reading,
                                                    CostOf&& cost_of) {
  const bool two = row.readings.size() == 2;
  const arch::lds_service &one = row.readings[0], &other = row.readings[two ? 1 : 0];
  if (reading == lds_reading::second) return cost_of(other);
  const lds_access_cost first = cost_of(one);
  // More banks for the same lanes never cost more.
  const bool cannot_be_worse = other.banks >= one.banks && other.phases == one.phases;
  if (reading == lds_reading::first || !two || cannot_be_worse) return first;
  const lds_access_cost second = cost_of(other);
  const bool second_is_costlier =
      second.conflicts != first.conflicts ? second.conflicts > first.conflicts : second.cycles > first.cycles;
  lds_access_cost worst = second_is_costlier ? second : first;
  worst.add(second_is_costlier ? first : second, 0);
  return worst;
}

}  // namespace detail

/// The cost of `op` on a target that supports it. `reading` says how to read a disputed row.
TILEWRIGHT_HD constexpr lds_access_cost lds_cost(const arch::target& t, arch::lds_op op, const lds_addresses& address,
                                                 lds_reading reading = lds_reading::worst) {
  const arch::lds_instruction* row = t.find(op);
  if (row == nullptr) detail::target_has_no_such_lds_instruction();
  return detail::cost_of_row(*row, reading, [&](const arch::lds_service& service) {
    return lds_cost(service, arch::access_bytes(op), arch::is_write(op), address);
  });
}

}  // namespace tilewright
