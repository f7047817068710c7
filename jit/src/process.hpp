// SPDX-License-Identifier: MIT
// Runs other programs, and says how many CPUs there are for that.
#pragma once

#include <string>
#include <vector>

namespace tilewright::jit {

struct command_result {
  int exit_code = -1;  // -1: it was not found or ended by a signal
  bool started = false;
  std::string output;  // stdout and stderr
};

/// Looks for the program along PATH. Its messages are in English.
command_result run_command(const std::vector<std::string>& words);

/// Whether a command of this name can be run.
bool is_program(const std::string& name);

/// How many threads this process can use: its CPUs, or as many as its container's quota pays for. At least 1.
unsigned usable_cpus();

/// What a quota such as "250000 100000" (microseconds of each period) pays for, rounded up; 0: there is none.
unsigned cpus_of_quota(const std::string& quota_and_period);

}  // namespace tilewright::jit
