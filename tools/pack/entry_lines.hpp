// SPDX-License-Identifier: MIT
// The lines on which the entries of lists start in a JSON text.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace pack {

/// For each member of the document that is a list: the lines of its objects, from 1 on. Throws tilewright::jit::error
/// with line and column if the text is no JSON.
std::map<std::string, std::vector<int>> entry_lines(std::string_view text);

}  // namespace pack
