// SPDX-License-Identifier: MIT
// The layout that puts a tile's chunks into given banks.
#pragma once

#include <tilewright/lds/swizzled_layout.hpp>
#include <tilewright/util/math.hpp>

namespace tilewright::detail {

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
