// SPDX-License-Identifier: MIT
// Writes what the tool prints.
#pragma once

#include <string>

namespace tilewright_layout {

/// Writes a file whole, or leaves the file system as it was: an existing file is replaced only by a complete one. Empty
/// name: standard output. Pipes and devices are written as they are. Throws refusal.
void write_output(const std::string& text, const std::string& file);

/// The text with control characters, and bytes that are no UTF-8, as \x1b and the like: fit for a terminal.
std::string readable(const std::string& text);

}  // namespace tilewright_layout
