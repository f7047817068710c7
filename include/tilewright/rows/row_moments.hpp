// SPDX-License-Identifier: MIT
// Mean and variance of rows that arrive part by part, without cancellation.
#pragma once

#include <tilewright/rows/row_block.hpp>

namespace tilewright::detail {

/// Sums of distances from the first part's mean, and of their squares. The variance is at least that of the parts'
/// means, so of n parts the correction by the rest's mean loses at most log2(n) bits. After finish(): the row's mean,
/// and the sum of squared distances from it.
template <class Block>
struct row_moments {
  float mean = 0, squares = 0, rest = 0;

  /// The part that begins at first_col, with zeros after the end of the rows. LDS for three reductions.
  TILEWRIGHT_HD void add(const Block& rows, const typename Block::template part<float>& x, index_t first_col,
                         exec::lds_pointer lds) {
    if (first_col == 0) {
      mean = Block::reduce_own(x, plus);
      Block::reduce_threads(plus, lds, mean);
      mean *= exec::rcp(float(rows.first_parts()));
    }
    auto distances = x;
    TILEWRIGHT_UNROLL_ALL
    for (index_t d = 0; d < Block::elements; ++d) distances.thread_buffer[d] -= rows.exists(first_col, d) ? mean : 0.0f;
    if (!rows.is_single()) rest += Block::reduce_own(distances, plus);
    tile_elementwise_inout([](float& d) { d *= d; }, distances);
    squares += Block::reduce_own(distances, plus);
  }

  /// Combines the threads that share rows; the same LDS.
  TILEWRIGHT_HD void finish(const Block& rows, exec::lds_pointer lds) {
    const auto later = lds + Block::lds_bytes;
    if (rows.is_single()) return Block::reduce_threads(plus, later, squares);
    Block::reduce_threads(plus, later, squares, rest);
    const float further = rest * exec::rcp(float(rows.all_cols));
    mean += further;
    squares = exec::max(squares - further * rest, 0.0f);
  }
};

}  // namespace tilewright::detail
