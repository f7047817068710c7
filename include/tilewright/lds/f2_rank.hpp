// SPDX-License-Identifier: MIT
// Ranks of addresses as vectors over F2, one for each bit of the lane.
#pragma once

#include <tilewright/arch/target.hpp>

namespace tilewright::detail {

/// Dimension of the space over F2 that the vectors span.
template <index_t N>
TILEWRIGHT_HD constexpr index_t f2_rank(array<unsigned, N> vectors, index_t count) {
  index_t rank = 0;
  for (index_t i = 0; i < count; ++i) {
    const unsigned pivot = vectors[i];
    if (pivot == 0) continue;
    ++rank;
    const unsigned highest = 0x80000000u >> __builtin_clz(pivot);
    for (index_t j = i + 1; j < count; ++j) vectors[j] ^= (vectors[j] & highest) != 0 ? pivot : 0;
  }
  return rank;
}

/// How a row of a target's table serves lanes whose addresses are linear:
/// by the rule of lds_service::merges_where_lanes_share.
template <class Address>
TILEWRIGHT_HD constexpr arch::lds_service service_of(const arch::lds_service& row,
                                                     const array<Address, 6>& address_of_bit) {
  const bool lanes_share = address_of_bit[0] == 0 || address_of_bit[1] == 0;
  return row.merges_where_lanes_share && lanes_share ? row.merged() : row;
}

}  // namespace tilewright::detail
