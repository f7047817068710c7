// SPDX-License-Identifier: MIT
// LDS bank conflicts of the instructions that really executed, under a table of phases.
#pragma once

#include <map>

#include "state.hpp"

namespace emu {
struct phase_model {
  u32 banks = 32;
  std::vector<u64> groups;  // lane masks
  std::string text;
};
struct lds_stats {
  lds_stats(const std::string& target, u32 lanes, const std::string& path);
  const phase_model& model(bool store, u32 bytes) const;
  std::map<std::pair<u64, int>, lds_row> rows;

 private:
  std::map<std::pair<bool, u32>, phase_model> models_;
};
}  // namespace emu
