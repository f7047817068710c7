// SPDX-License-Identifier: MIT
// Phases of an LDS instruction: which lanes of a wave it serves together.
#pragma once

#include <tilewright/util/array.hpp>

namespace tilewright::arch {

/// The order in which an LDS instruction serves the lanes of a wave. Each `lanes_per_phase` consecutive places of that
/// order are one phase: they are served together and compete for the banks. The lane in place p is the XOR of
/// lane_bit[i] over the bits i that are set in p; so every phase is a coset of the subspace of F2^6 that the first
/// lane_bits span, and the analysis of linear layouts can use that subspace directly.
struct lds_phases {
  index_t wave_size = 0;
  index_t lanes_per_phase = 0;
  array<index_t, 6> lane_bit{};

  TILEWRIGHT_HD constexpr index_t num_phases() const { return wave_size / lanes_per_phase; }

  TILEWRIGHT_HD constexpr index_t lane_in_place(index_t place) const {
    index_t lane = 0;
    for (index_t i = 0; i < 6; ++i) lane ^= (place >> i & 1) ? lane_bit[i] : 0;
    return lane;
  }

  /// The lanes of one phase, as a mask.
  TILEWRIGHT_HD constexpr unsigned long long lanes_of(index_t phase) const {
    unsigned long long mask = 0;
    for (index_t i = 0; i < lanes_per_phase; ++i) mask |= 1ull << lane_in_place(phase * lanes_per_phase + i);
    return mask;
  }

  friend constexpr bool operator==(const lds_phases&, const lds_phases&) = default;
};

/// Phases of consecutive lanes.
TILEWRIGHT_HD constexpr lds_phases contiguous_phases(index_t wave_size, index_t lanes_per_phase) {
  return {wave_size, lanes_per_phase, {{1, 2, 4, 8, 16, 32}}};
}

/// Every lane of the wave is in exactly one phase.
TILEWRIGHT_HD constexpr bool every_lane_is_served_once(const lds_phases& phases) {
  unsigned long long served = 0;
  for (index_t place = 0; place < phases.wave_size; ++place) {
    const unsigned long long lane = 1ull << phases.lane_in_place(place);
    if (served & lane) return false;
    served |= lane;
  }
  const unsigned long long wave = phases.wave_size == 64 ? ~0ull : (1ull << phases.wave_size) - 1;
  return served == wave && phases.num_phases() * phases.lanes_per_phase == phases.wave_size;
}

}  // namespace tilewright::arch
