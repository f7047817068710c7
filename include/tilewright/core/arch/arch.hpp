// SPDX-License-Identifier: MIT
// Every target that the library knows.
#pragma once

#include <tilewright/core/arch/gfx11.hpp>
#include <tilewright/core/arch/gfx12.hpp>
#include <tilewright/core/arch/gfx90a.hpp>
#include <tilewright/core/arch/gfx942.hpp>
#include <tilewright/core/arch/gfx950.hpp>
#include <tilewright/core/arch/sm80.hpp>
#include <tilewright/core/arch/sm90.hpp>

namespace tilewright::arch {

/// The targets that the library has; find_target finds them by name.
inline constexpr array<const target*, 7> all_targets{
    {&gfx90a::value, &gfx942::value, &gfx950::value, &gfx1100::value, &gfx1201::value, &sm80::value, &sm90::value}};

namespace detail {
TILEWRIGHT_HD constexpr bool equal_text(const char* a, const char* b) {
  while (*a != '\0' && *a == *b) ++a, ++b;
  return *a == *b;
}
}  // namespace detail

/// The target of this name ("gfx942", "sm_90"); nullptr if there is none.
TILEWRIGHT_HD constexpr const target* find_target(const char* name) {
  for (const target* known : all_targets) {
    if (detail::equal_text(known->name, name)) return known;
  }
  return nullptr;
}

}  // namespace tilewright::arch
