// SPDX-License-Identifier: MIT
// Help and the manual page of a program, made from its table of options.
#pragma once

#include <string>

#include "command_line.hpp"

namespace program {

/// For a terminal of 100 columns.
std::string help_text(const command_line& line);

/// In the language of man(7).
std::string manual_page(const command_line& line);

}  // namespace program
