// SPDX-License-Identifier: MIT
// What the program says about a run, as text or as JSON.
#pragma once

#include "machine.hpp"
#include "reference.hpp"

namespace attention_program {

struct report {
  const inputs& data;
  std::uint64_t seed;
  outcome result;
  std::optional<comparison> verification;
};

std::string to_text(const report& r);
std::string to_json(const report& r);
std::string failure_sentence(const report& r);

}  // namespace attention_program
