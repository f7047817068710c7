// SPDX-License-Identifier: MIT
// Follows the access to a tile in LDS, instruction by instruction and phase by phase,
// down to who waits for whom in which bank.
#pragma once

#include <tilewright/core/lds/lds_access.hpp>

#include <string>
#include <vector>

namespace tilewright::viz {

/// One LDS instruction of one wave.
struct lds_step {
  arch::lds_op op = arch::lds_op::read_b32;
  index_t wave = 0, access = 0;
  lds_addresses address{};                 // of each lane, in bytes; negative: the lane does not take part
  array<array<index_t, 2>, 64> element{};  // row and column of the first element that each lane accesses
};

/// A dword that a bank must deliver (or take) in one phase, and the lanes that ask for it.
struct lds_bank_visit {
  index_t dword = 0;
  std::vector<index_t> lanes;
};

/// One phase of an instruction: the lanes served together and, for each bank, what it has to do,
/// one entry for each cycle.
struct lds_phase_trace {
  index_t phase = 0;
  index_t degree = 0;  // cycles: the most entries of any bank; 0: no lane takes part
  std::vector<index_t> lanes;
  std::vector<std::vector<lds_bank_visit>> banks;

  /// Whether a lane has to share one of its banks with lanes that want another dword of it.
  bool is_in_conflict(index_t lane) const {
    for (const auto& bank : banks) {
      if (bank.size() < 2) continue;
      for (const lds_bank_visit& visit : bank) {
        for (const index_t other : visit.lanes) {
          if (other == lane) return true;
        }
      }
    }
    return false;
  }
};

/// The instruction with which a wave makes its access number `access`; lds_access_pattern counts them.
lds_step step_of(const lds_access_pattern& pattern, lds_access_kind kind, index_t wave, index_t access);

/// The reading of a target's row with the instruction's worst degree; of equal ones, the costlier.
const arch::lds_service& deciding_reading(const arch::target& target, const lds_step& step,
                                          lds_reading reading = lds_reading::worst);

/// All phases of an instruction.
std::vector<lds_phase_trace> phases_of(const arch::lds_service& row, const lds_step& step);

/// "0-3, 20-23"
std::string lanes_text(std::vector<index_t> lanes);

}  // namespace tilewright::viz
