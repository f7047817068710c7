// SPDX-License-Identifier: MIT
// When the instructions of a workgroup issue on a CDNA compute unit, from what its waves executed.
#pragma once

#include <vector>

#include "state.hpp"

namespace emu {
/// An executed instruction: its number in the program, and the phases that the LDS needed for it.
struct traced_inst {
  u32 ip, lds_phases;
};

/// Times a workgroup that has the compute unit for itself. `waves`: what each wave executed, from its first instruction
/// to its last. Throws std::runtime_error if the target is not of CDNA.
timing time_workgroup(const code_object& co, const program& prog, const std::vector<std::vector<traced_inst>>& waves,
                      const options& o);
}  // namespace emu
