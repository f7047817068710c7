// SPDX-License-Identifier: MIT
// Chained products: C of the first is A of the second, and no element leaves its lane.
#pragma once

#include <tilewright/block/mma/block_tile.hpp>
#include <tilewright/block/mma/detail/product_check.hpp>

namespace tilewright {

namespace detail {

/// The second product's block tile with the order of k that C of the first has; possible or not.
struct product_chain {
  bool is_possible = false;
  block_tile second;
};

TILEWRIGHT_HD constexpr product_chain make_chain(const block_tile& first, block_tile second) {
  second.k_order = 0;
  const operand_match match('A', detail::c_encoding(first), detail::a_encoding(second));
  product_chain result{match.fits() && match.keeps(0), second};
  array<index_t, 16> bits{};  // where each bit of k shall be, and where the exchanges so far have brought it
  array<index_t, 16> places{};
  for (index_t b = 0; 1 << b < second.k; ++b) {
    places[b] = b;
    while (bits[b] < 15 && 1 << bits[b] < match.image(1, 1 << b)) ++bits[b];
  }
  for (index_t b = 0; result.is_possible && 1 << b < second.k; ++b) {
    const index_t from = places[b], to = bits[b];
    if (from == to) continue;
    result.is_possible = 1 << max(from, to) < arch::describe(second.op).k && result.second.num_k_exchanges() < 4;
    if (!result.is_possible) break;
    result.second.k_order |= unsigned(min(from, to) | max(from, to) << 4) << 8 * result.second.num_k_exchanges();
    for (index_t& place : places) place = place == from ? to : place == to ? from : place;
  }
  return result;
}

template <block_tile First, block_tile Second>
TILEWRIGHT_HD constexpr block_tile require_chain() {
  constexpr product_chain result = make_chain(First, Second);
  static_assert(result.is_possible,
                "chained: no order of k makes C of the first product A of the second without an exchange between "
                "lanes; the waves must divide m alone, and the instructions hold rows alike: see can_chain");
  return result.second;
}

}  // namespace detail

/// Whether C of `first` (m x n) can be A of `second` (m x k, k being n of the first) with each element in its lane.
TILEWRIGHT_HD constexpr bool can_chain(const block_tile& first, const block_tile& second) {
  return first.m == second.m && first.n == second.k && first.is_sound() && second.is_sound() &&
         detail::make_chain(first, second).is_possible;
}

/// Second with the order of k in which C of First is A of Second: a_distribution<chained<First, Second>> differs from
/// c_distribution<First> in nothing but the order of registers, so that relayout<T> converts one into the other. B of
/// the second product has the same order of k: read it through b_lds_distribution<chained<First, Second>>.
template <block_tile First, block_tile Second>
inline constexpr block_tile chained = detail::require_chain<First, Second>();

}  // namespace tilewright
