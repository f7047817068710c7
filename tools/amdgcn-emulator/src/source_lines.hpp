// SPDX-License-Identifier: MIT
// Source positions of instructions, by llvm-symbolizer.
#pragma once

#include <amdgcn_emulator.hpp>

#include "numeric.hpp"

namespace emu {
/// Frames of an address, innermost first; empty without debug information or without llvm-symbolizer (22, or the one
/// that AMDGCN_SYMBOLIZER names).
std::vector<source_frame> source_lines(const std::string& object, u64 address);
std::string demangled(const std::string& name);
}  // namespace emu
