// SPDX-License-Identifier: MIT
// A request that cannot be carried out.
#pragma once

#include "../program/refusal.hpp"

namespace tilewright_layout {

using program::refusal;

}  // namespace tilewright_layout
