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
/// Addresses of one execution of an LDS instruction.
struct lds_sample {
  u64 lanes = 0;
  std::array<u32, 64> address{};
};
struct phase_cost {
  u64 clocks = 0, phases = 0, worst = 0, same_dword = 0;
};
phase_cost phase_clocks(const phase_model& m, u32 bytes, u64 lanes, const u32* address);
struct lds_stats {
  lds_stats(const std::string& target, u32 lanes, const std::string& path);
  const phase_model& model(bool store, u32 bytes) const;
  std::map<std::pair<u64, int>, lds_row> rows;
  std::map<std::pair<u64, int>, lds_sample> samples;  // of the first execution of each row

 private:
  std::map<std::pair<bool, u32>, phase_model> models_;
};
/// bank_advice.cpp: sets lds_row::advice where a layout has fewer conflicts.
void advise(lds_stats& stats);
}  // namespace emu
