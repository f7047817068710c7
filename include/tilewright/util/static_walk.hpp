// SPDX-License-Identifier: MIT
// A walk over a box of indices in groups of neighbours, computed at compile time.
#pragma once

#include <tilewright/util/array.hpp>

namespace tilewright {

namespace detail {

/// Positions of a walk through `lengths` in groups of `unpacks` neighbours along each dimension. Dimension order[0]
/// moves slowest, inside of a group as well.
template <index_t N>
struct static_walk {
  array<index_t, N> lengths, order, unpacks;

  TILEWRIGHT_HD constexpr bool is_sound() const {
    array<bool, N> seen{};
    for (index_t i = 0; i < N; ++i) {
      if (order[i] < 0 || order[i] >= N || seen[order[i]]) return false;
      seen[order[i]] = true;
      if (lengths[i] < 0 || unpacks[i] < 1 || lengths[i] % unpacks[i] != 0) return false;
    }
    return true;
  }
  TILEWRIGHT_HD constexpr index_t per_group() const {
    index_t n = 1;
    for (index_t i = 0; i < N; ++i) n *= unpacks[i];
    return n;
  }
  TILEWRIGHT_HD constexpr index_t num_groups() const {
    index_t n = 1;
    for (index_t i = 0; i < N; ++i) n *= lengths[i] / unpacks[i];
    return n;
  }
  TILEWRIGHT_HD constexpr array<index_t, N> at(index_t group, index_t member) const {
    array<index_t, N> index{};
    for (index_t i = N; i-- > 0;) {
      const index_t d = order[i], groups = lengths[d] / unpacks[d];
      index[d] = group % groups * unpacks[d] + member % unpacks[d];
      group /= groups;
      member /= unpacks[d];
    }
    return index;
  }
};

}  // namespace detail

}  // namespace tilewright
