// SPDX-License-Identifier: MIT
// Pieces of disassembled text.
#pragma once

#include "inst.hpp"

namespace emu {
std::string_view trim(std::string_view s);
std::vector<std::string_view> split(std::string_view s, char separator);  // at separators outside of brackets
bool number(std::string_view s, i64& v);
bool starts(std::string_view s, std::string_view p);
bool modifier(inst& i, std::string_view m);  // understood, or known to have no effect here
void parse_text(inst& i, std::string_view text);
}  // namespace emu
