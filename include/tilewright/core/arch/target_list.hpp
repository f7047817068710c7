// SPDX-License-Identifier: MIT
// A list of targets as types, from which everything that differs by target is instantiated.
#pragma once

#include <tilewright/core/arch/target.hpp>

namespace tilewright::arch {

/// Whether two names of targets are the same.
TILEWRIGHT_HD constexpr bool is_same_name(const char* a, const char* b) {
  while (*a != '\0' && *a == *b) ++a, ++b;
  return *a == *b;
}

/// Targets as types with a member `value`.
template <class... Archs>
struct target_list {
  /// The values, in the order of the types.
  static constexpr array<const target*, sizeof...(Archs)> values{{&Archs::value...}};

  /// Position of the target of this name; -1 if it is not in the list.
  TILEWRIGHT_HD static constexpr index_t find(const char* name) {
    for (index_t i = 0; i < values.size(); ++i) {
      if (is_same_name(values[i]->name, name)) return i;
    }
    return -1;
  }
  /// f.template operator()<Arch>() for the target of this name. Returns whether there is one.
  template <class F>
  static constexpr bool with(const char* name, const F& f) {
    return ((is_same_name(Archs::value.name, name) && (f.template operator()<Archs>(), true)) || ...);
  }
};

namespace detail {
template <class... A, class... B>
target_list<A..., B...> joined(target_list<A...>, target_list<B...>);
}  // namespace detail

}  // namespace tilewright::arch
