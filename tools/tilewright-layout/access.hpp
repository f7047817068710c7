// SPDX-License-Identifier: MIT
// Layouts and the accesses to them: costs and pictures.
#pragma once

#include "commands.hpp"

namespace tilewright_layout {

/// Exit code 1 if any access to any layout has conflicts, does not fit or (only_evidence)
/// rests on an assumption. Throws refusal.
answer access_answer(const options& asked);

}  // namespace tilewright_layout
