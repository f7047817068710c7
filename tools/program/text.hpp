// SPDX-License-Identifier: MIT
// Text for terminals: escapes and line breaks.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace program {

/// Bytes of the first character; 0 if it is a control character or no UTF-8.
std::size_t length_of_character(std::string_view text);

/// The text with control characters, and bytes that are no UTF-8, as \x1b and the like: one line, fit for a terminal
/// and for XML.
std::string printable(std::string_view text);

/// Breaks each line at spaces so that none is longer than `columns`; continued lines start with `indent` spaces.
std::string wrapped(std::string_view text, std::size_t columns, std::size_t indent);

}  // namespace program
