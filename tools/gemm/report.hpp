// SPDX-License-Identifier: MIT
// What the program says about a run, as text or as JSON.
#pragma once

#include <optional>
#include <string>

#include "backend.hpp"
#include "comparison.hpp"

namespace gemm_program {

struct report {
  problem what;
  std::string a_source, b_source, c_source;
  std::uint64_t seed = 0;
  outcome result;
  std::optional<comparison> verification;
};

/// Two operations for each of m n k.
double operations(const problem& p);
/// The shortest repetition; 0 if there is none.
double best_seconds(const outcome& result);

std::string to_text(const report& r);
/// One object; numbers that JSON cannot write (NaN, infinity) and counts that the machine did not make are null.
std::string to_json(const report& r);

/// The sentence for a result that is not correct.
std::string failure_sentence(const report& r);

}  // namespace gemm_program
