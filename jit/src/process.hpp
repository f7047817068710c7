// SPDX-License-Identifier: MIT
// Runs a command and collects what it writes.
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

}  // namespace tilewright::jit
