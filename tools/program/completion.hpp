// SPDX-License-Identifier: MIT
// Completion scripts for shells, made from a program's table of options.
#pragma once

#include <string>

#include "command_line.hpp"

namespace program {

enum class shell { bash, zsh, fish };

std::string completion_script(const command_line& line, shell which);

}  // namespace program
