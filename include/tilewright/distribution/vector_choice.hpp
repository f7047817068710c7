// SPDX-License-Identifier: MIT
// Chooses the vectors in which a thread accesses its part of a tile.
#pragma once

#include <tilewright/distribution/tile_distribution.hpp>
#include <tilewright/util/math.hpp>

namespace tilewright::detail {

/// The widest vector that a distribution and its memory allow.
struct vector_choice {
  index_t dim_y = 0;
  index_t length = 1;
  friend constexpr bool operator==(const vector_choice&, const vector_choice&) = default;
};

/// No instruction moves more than this many bytes for one thread.
inline constexpr index_t max_vector_bytes = 16;

/// runs[x]: aligned contiguous run of the memory along dimension x of the tile, in elements. A y may carry a vector
/// when it is the last factor of its dimension. The longest wins, the first of equals; without any, the last y,
/// one element at a time.
template <index_t NDimX>
TILEWRIGHT_HD constexpr vector_choice choose_vector(const distribution_encoding& e, const array<index_t, NDimX>& runs,
                                                    index_t element_bytes) {
  vector_choice best{max(0, e.ndim_y() - 1), 1};
  for (index_t i = 0; i < e.ndim_y(); ++i) {
    const rh_id id = e.y[i];
    const index_t x = id.major - 1;
    if (e.stride(id) != 1) continue;
    const index_t common = gcd(gcd(e.length(id), runs[x]), max(1, max_vector_bytes / element_bytes));
    const index_t length = common & -common;  // instructions move powers of two
    if (length > best.length) best = {i, length};
  }
  return best;
}

}  // namespace tilewright::detail
