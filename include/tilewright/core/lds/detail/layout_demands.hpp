// SPDX-License-Identifier: MIT
// What LDS instructions ask of a layout: subspaces of a tile's addresses that banks must keep apart; and the layout
// that puts a tile's chunks into given banks.
//
// An element's place in the plain tile (its byte, row after row) is a vector over F2. The lanes of one phase differ by
// a subspace of these vectors, a basis of which is a demand: the bank map must keep as many of its vectors independent
// as it can.
#pragma once

#include <tilewright/core/arch/target.hpp>
#include <tilewright/core/base/math.hpp>
#include <tilewright/core/descriptor/offset_analysis.hpp>
#include <tilewright/core/distribution/distribution_encoding.hpp>
#include <tilewright/core/lds/bank_conflicts.hpp>
#include <tilewright/core/lds/swizzled_layout.hpp>

namespace tilewright::detail {

/// The plain byte of what a lane bit, a wave bit or a bit of y moves to; every factor is a power of two.
TILEWRIGHT_HD constexpr index_t plain_byte_of_factor(const distribution_encoding& e, rh_id id, const lds_tile& tile) {
  if (id.major == 0) return 0;
  return e.stride(id) * (id.major == 1 ? tile.row_bytes() : tile.element_bytes);
}

/// The bits of the plain address that the bits of a partition index set, from the least significant one on.
TILEWRIGHT_HD constexpr array<unsigned, 6> plain_bits_of_lane(const distribution_encoding& e, const lds_tile& tile) {
  array<unsigned, 6> result{};
  const auto& ids = e.p[e.ndim_p() - 1];
  index_t bit = 0;
  for (index_t i = ids.size(); i-- > 0;) {
    const index_t first = plain_byte_of_factor(e, ids[i], tile);
    for (index_t step = 1; step < e.length(ids[i]) && bit < 6; step *= 2) result[bit++] = unsigned(first * step);
  }
  return result;
}

/// The differences of the lanes of one phase, as a basis in reduced echelon form, and the bits of an address that
/// choose the bank.
struct lds_demand {
  array<unsigned, 6> vectors{};  // by ascending highest bit
  index_t size = 0;
  unsigned bank_mask = 0;

  TILEWRIGHT_HD static constexpr index_t highest_bit(unsigned v) { return 31 - __builtin_clz(v); }

  /// What is left of v after the basis has cleared its highest bits; 0: it is a sum of the basis.
  TILEWRIGHT_HD constexpr unsigned reduced(unsigned v) const {
    for (index_t i = size; i-- > 0;) {
      if (v >> highest_bit(vectors[i]) & 1) v ^= vectors[i];
    }
    return v;
  }

  TILEWRIGHT_HD constexpr void insert(unsigned v) {
    v = reduced(v);
    if (v == 0) return;
    index_t place = size++;
    for (; place > 0 && vectors[place - 1] > v; --place) vectors[place] = vectors[place - 1];
    vectors[place] = v;
    for (index_t i = place + 1; i < size; ++i) vectors[i] ^= (vectors[i] >> highest_bit(v) & 1) ? v : 0;
  }

  /// Layouts that serve `other` serve this one.
  TILEWRIGHT_HD constexpr bool follows_from(const lds_demand& other) const {
    if ((other.bank_mask & ~bank_mask) != 0 || size > other.size) return false;
    for (index_t i = 0; i < size; ++i) {
      if (other.reduced(vectors[i]) != 0) return false;
    }
    return true;
  }

  /// Vectors that must fall together when only the bits of `slots` can be chosen: those that the other bits of the bank
  /// do not keep apart, less one for each slot bit.
  TILEWRIGHT_HD constexpr index_t slack_by_counting(unsigned slots) const {
    array<unsigned, 6> apart = vectors;
    for (unsigned& v : apart) v &= bank_mask & ~slots;
    return size - f2_rank(apart, size) - __builtin_popcount(slots);
  }
};

/// The demand of one instruction of `bytes` per lane under one reading of its row, where bit i of the lane sets
/// plain_bits[i] in the plain address.
TILEWRIGHT_HD constexpr lds_demand demand_of(const arch::lds_service& row, index_t bytes,
                                             const array<unsigned, 6>& plain_bits) {
  const arch::lds_service service = service_of(row, plain_bits);
  const index_t unit_bit = max(2, log2_floor(bytes));
  lds_demand d;
  d.bank_mask = unsigned(service.banks * arch::lds_bank_bytes - 1) & ~((1u << unit_bit) - 1);
  for (index_t i = 0; i < log2_floor(service.phases.lanes_per_phase); ++i) {
    unsigned v = 0;
    for (index_t bit = 0; bit < 6; ++bit) v ^= (service.phases.lane_bit[i] >> bit & 1) ? plain_bits[bit] : 0;
    d.insert(v >> unit_bit << unit_bit);
  }
  return d;
}

/// The numbers of bank bits above the chunk's that instructions see, ascending.
using bank_widths = inplace_vector<index_t, 3>;

/// The layout of a map from addresses to banks that is linear over bits: column[b] are the bits of the bank, in bytes,
/// that bit b of the plain address flips. It conflicts where the map does, or less.
///
/// Replacing a bank bit that depends on others makes no new conflict. Adding bank bits to others that are as wide or
/// wider changes no conflict. So each bit of the bank can have a bit of the chunk's number to itself, within its width:
/// a bit of the place.
constexpr swizzled_layout layout_of_bank_map(const lds_tile& tile, index_t chunk_bits, const bank_widths& widths,
                                             const array<unsigned, 32>& column) {
  swizzled_layout layout{tile, 1 << chunk_bits, {}, {}};
  const index_t bits = log2_floor(tile.bytes()) - chunk_bits;
  unsigned row[swizzled_layout::max_bits] = {};    // which bits of a chunk's number flip this bit of the bank
  unsigned pivot[swizzled_layout::max_bits] = {};  // the one that has the bit to itself
  unsigned pivots = 0;
  index_t place[swizzled_layout::max_bits] = {}, count = 0;
  for (const index_t width : widths) {
    const index_t first = count;
    unsigned group = 0;
    for (; count < width; ++count) {
      for (index_t bit = 0; bit < bits; ++bit)
        row[count] |= (column[bit + chunk_bits] >> (count + chunk_bits) & 1) << bit;
      for (index_t k = 0; k < count; ++k) row[count] ^= (row[count] & pivot[k]) != 0 ? row[k] : 0;
      if (row[count] == 0) row[count] = ~pivots & (pivots + 1);
      pivot[count] = row[count] & (0u - row[count]);
      for (index_t k = first; k < count; ++k) row[k] ^= (row[k] & pivot[count]) != 0 ? row[count] : 0;
      pivots |= pivot[count];
      group |= pivot[count];
    }
    for (index_t k = first; k < count; ++k) place[k] = first + __builtin_popcount(group & (pivot[k] - 1));
    layout.places.push_back(group);
  }
  for (index_t g = 1; g <= layout.places.size(); ++g) {
    for (unsigned group = g < layout.places.size() ? layout.places[g] : layout.rest(); group != 0; group &= group - 1) {
      index_t flip = 0;
      for (index_t k = 0; k < count; ++k) flip |= (row[k] & ~pivot[k] & group & (0u - group)) != 0 ? 1 << place[k] : 0;
      layout.flips.push_back(flip);
    }
  }
  return layout;
}

}  // namespace tilewright::detail
