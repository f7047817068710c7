// SPDX-License-Identifier: MIT
// Every target that the library knows. A new one is a value in a header of this folder, and its type in a list below.
#pragma once

#include <tilewright/core/arch/gfx11.hpp>
#include <tilewright/core/arch/gfx12.hpp>
#include <tilewright/core/arch/gfx1250.hpp>
#include <tilewright/core/arch/gfx908.hpp>
#include <tilewright/core/arch/gfx90a.hpp>
#include <tilewright/core/arch/gfx942.hpp>
#include <tilewright/core/arch/gfx950.hpp>
#include <tilewright/core/arch/sm80.hpp>
#include <tilewright/core/arch/sm90.hpp>
#include <tilewright/core/arch/target_list.hpp>

namespace tilewright::arch {

/// AMD's, with the names that compilers give them. CMake reads this line (tilewright_known_archs).
using amd_targets = target_list<gfx908, gfx90a, gfx942, gfx950, gfx1100, gfx1150, gfx1151, gfx1200, gfx1201, gfx1250>;
/// NVIDIA's; sm90 is compiled as sm_90a.
using nvidia_targets = target_list<sm80, sm90>;
/// Both.
using known_targets = decltype(detail::joined(amd_targets{}, nvidia_targets{}));

/// The targets that the library has; find_target finds them by name.
inline constexpr auto all_targets = known_targets::values;

/// The target of this name ("gfx942", "sm_90"); nullptr if there is none.
TILEWRIGHT_HD constexpr const target* find_target(const char* name) {
  const index_t i = known_targets::find(name);
  return i < 0 ? nullptr : all_targets[i];
}

}  // namespace tilewright::arch
