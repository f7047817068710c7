// SPDX-License-Identifier: MIT
// Permutations of lanes for copies that fill LDS lane after lane: whose accesses each lane makes.
#pragma once

#include <tilewright/core/base/array.hpp>
#include <tilewright/core/base/sequence.hpp>

namespace tilewright::detail {

/// In access i, lane l of wave w makes the access of lane l ^ flips(of_lane, l) ^ flips(of_wave, w) ^
/// flips(of_access, i). Each member has a field of 6 bits for each bit of its argument. They are integers, because g++
/// 12 gives template arguments that differ in zeros inside of arrays the same symbol.
struct lane_permutation {
  unsigned long long of_lane = 0, of_wave = 0, of_access = 0;

  static constexpr index_t field_bits = 6, max_bits = 64 / field_bits;

  TILEWRIGHT_HD static constexpr index_t field(unsigned long long fields, index_t bit) {
    return index_t(fields >> bit * field_bits & ((1u << field_bits) - 1));
  }
  TILEWRIGHT_HD static constexpr unsigned long long make_field(index_t bit, index_t flips) {
    return static_cast<unsigned long long>(unsigned(flips)) << bit * field_bits;
  }
  /// XOR of the fields of the bits that are set in `value`.
  TILEWRIGHT_HD static constexpr index_t flips(unsigned long long fields, index_t value) {
    index_t result = 0;
    for (index_t bit = 0; value >> bit != 0; ++bit) result ^= (value >> bit & 1) * field(fields, bit);
    return result;
  }

  TILEWRIGHT_HD constexpr bool is_identity() const { return of_lane == 0 && of_wave == 0 && of_access == 0; }
  friend constexpr bool operator==(const lane_permutation&, const lane_permutation&) = default;
};

/// Accesses of a thread that belong to one lane. Without a permutation all of them are group 0.
template <index_t NumAccess>
struct lane_groups {
  index_t count = 0;
  array<index_t, NumAccess> of_access{};  // group of each access
  array<index_t, NumAccess> flips{};      // by group: bits of the lane
};

template <index_t NumAccess>
TILEWRIGHT_HD constexpr lane_groups<NumAccess> find_lane_groups(const lane_permutation& permutation) {
  lane_groups<NumAccess> groups;
  for (index_t i = 0; i < NumAccess; ++i) {
    const index_t flips = lane_permutation::flips(permutation.of_access, i);
    index_t g = 0;
    while (g < groups.count && groups.flips[g] != flips) ++g;
    if (g == groups.count) groups.flips[groups.count++] = flips;
    groups.of_access[i] = g;
  }
  return groups;
}

/// XOR of Fields for the bits of `value`.
template <index_t... Fields>
TILEWRIGHT_HD constexpr index_t xor_of_bits(index_t value, sequence<Fields...>) {
  index_t result = 0, b = 0;
  ((result ^= Fields == 0 ? 0 : (value >> b & 1) * Fields, ++b), ...);
  return result;
}

/// The lane whose accesses of group 0 the calling lane makes.
template <lane_permutation Permutation, index_t... Bs>
TILEWRIGHT_HD constexpr index_t permuted_lane(index_t wave, index_t lane, sequence<Bs...>) {
  return xor_of_bits(lane, sequence<(lane_permutation::field(Permutation.of_lane, Bs) ^ 1 << Bs)...>{}) ^
         xor_of_bits(wave, sequence<lane_permutation::field(Permutation.of_wave, Bs)...>{});
}

}  // namespace tilewright::detail
