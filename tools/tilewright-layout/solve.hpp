// SPDX-License-Identifier: MIT
// Asks the library for a layout that serves all accesses.
#pragma once

#include "layout_spec.hpp"
#include "pattern.hpp"

#include <vector>

namespace tilewright_layout {

/// A layout for all targets, described with the degree that was reached. Throws refusal.
named_layout solve(const std::vector<const tilewright::arch::target*>& targets, const tilewright::lds_tile& tile,
                   const std::vector<named_pattern>& patterns);

}  // namespace tilewright_layout
