// SPDX-License-Identifier: MIT
// The archives that are part of the program.
#pragma once

#include <memory>
#include <vector>

#include <tilewright/jit/archive.hpp>

namespace tilewright::jit {

/// Those that were added so far, the first one first.
std::vector<std::shared_ptr<const archive>> program_archives();

}  // namespace tilewright::jit
