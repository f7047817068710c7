// SPDX-License-Identifier: MIT
// Counts of a launch on the CPU: LDS instructions and their conflicts, matrix instructions.
#pragma once

#include <tilewright/core/arch/lds_op.hpp>
#include <tilewright/core/base/math.hpp>

#include <string>
#include <vector>

namespace tilewright::emulator {

/// The LDS accesses of a launch: of one kind or, in the totals, of every kind. An execution is one wave's instruction.
struct lds_counts {
  long_index_t executions = 0;  ///< instructions of waves
  long_index_t phases = 0;      ///< cycles that they would take without conflicts
  long_index_t cycles = 0;      ///< that they take with conflicts
  long_index_t conflicts = 0;   ///< cycles - phases
  index_t worst_degree = 0;     ///< the most cycles for one phase; 1: no conflict

  /// Sums, and the larger degree.
  void add(const lds_counts& other) {
    executions += other.executions;
    phases += other.phases;
    cycles += other.cycles;
    conflicts += other.conflicts;
    worst_degree = max(worst_degree, other.worst_degree);
  }
  friend bool operator==(const lds_counts&, const lds_counts&) = default;
};

/// The counts of one kind of LDS instruction.
struct lds_op_counts : lds_counts {
  arch::lds_op op = arch::lds_op::read_b32;  ///< the instruction
  friend bool operator==(const lds_op_counts&, const lds_op_counts&) = default;
};

/// What one line of the kernel did with one kind of instruction.
struct lds_line_counts : lds_op_counts {
  std::string file;  ///< source file; empty: unknown
  int line = 0;      ///< from 1; 0: unknown
  friend bool operator==(const lds_line_counts&, const lds_line_counts&) = default;
};

/// What a launch did, in all of its blocks.
struct launch_report {
  std::vector<lds_op_counts> by_op;  ///< for each kind of LDS instruction that was executed
  std::vector<lds_line_counts>
      by_line;        ///< the same by source line, in order; only of a launch that checks LDS accesses
  lds_counts totals;  ///< of all instructions
  long_index_t matrix_instructions = 0;  ///< of waves; a group of two counts once
  long_index_t blocks = 0;               ///< that ran
  int workers = 0;                       ///< threads of the CPU that ran blocks

  /// The counts for one kind of instruction: zeros if it was not executed.
  lds_counts of(arch::lds_op op) const {
    for (const lds_op_counts& counts : by_op) {
      if (counts.op == op) return counts;
    }
    return {};
  }
};

}  // namespace tilewright::emulator
