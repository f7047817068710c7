// SPDX-License-Identifier: MIT
// What a launch will cost in LDS, from the analysis at compile time.
#pragma once

#include "backend.hpp"

#include <tilewright/gemm/lds_prediction.hpp>

#include <map>

namespace gemm_example {

namespace tw = tilewright;

/// One line for each kind of LDS instruction; what a machine counts is still to be filled in.
template <class Policy>
std::vector<lds_line> predicted_lines(const tw::gemm_args& args) {
  static_assert(tw::require_conflict_free_gemm<Policy>());
  const tw::gemm_lds_prediction p = tw::predict_lds<Policy>();
  std::map<tw::arch::lds_op, lds_line> lines;
  p.for_each(tw::num_lds_rounds<Policy>(args),
             [&](const tw::lds_access_analysis& access, tw::long_index_t times) {
               lds_line& line = lines[access.op];
               line.instruction = tw::arch::instruction_name(Policy::arch::value, access.op);
               line.executions += times * access.executions;
               line.predicted_cycles += times * access.cycles;
               line.predicted_conflicts += times * access.conflicts;
             });
  std::vector<lds_line> result;
  for (auto& [op, line] : lines) result.push_back(line);
  return result;
}

}  // namespace gemm_example
