// SPDX-License-Identifier: MIT
// Mean and variance of rows that arrive part by part, without cancellation.
#pragma once

#include <tilewright/block/rows/row_block.hpp>

namespace tilewright::detail {

/// Sums of distances from one of the elements that the wave has of the row, and of their squares: a large mean does not
/// destroy the variance. After finish(): the row's mean, and the sum of squared distances from it.
template <class Block>
struct row_moments {
  float mean = 0, squares = 0, rest = 0, count = 0;

  /// The part that begins at first_col, with zeros after the end of the rows.
  TILEWRIGHT_HD void add(const Block& rows, const typename Block::template segment<float>& x, index_t first_col) {
    count += float(rows.count_of_wave(first_col));
    if (first_col == 0) {
      const float own = rows.exists(0, 0) ? x.thread_buffer[0] : x.thread_buffer[Block::elements - 1];
      mean = exec::shuffle(own, exec::lane_id() - modulo(exec::lane_id(), Block::lanes));
    }
    auto distances = x;
    TILEWRIGHT_UNROLL_ALL
    for (index_t d = 0; d < Block::elements; ++d) distances.thread_buffer[d] -= rows.exists(first_col, d) ? mean : 0.0f;
    rest += Block::reduce_own(distances, plus);
    tile_elementwise_inout([](float& d) { d *= d; }, distances);
    squares += Block::reduce_own(distances, plus);
  }

  /// Combines the threads that share rows (Chan's method). LDS for three reductions.
  TILEWRIGHT_HD void finish(exec::lds_pointer lds) {
    squares = combine_lanes<1, Block::lanes>(squares, plus);
    rest = combine_lanes<1, Block::lanes>(rest, plus);
    const float past = rest * inverse(count);
    mean += past;
    squares = exec::max(squares - past * rest, 0.0f);
    const auto combine = [&](auto n) TILEWRIGHT_INLINE_LAMBDA {
      const auto sum = [](float x) TILEWRIGHT_INLINE_LAMBDA { return combine_lanes<1, decltype(n)::value>(x, plus); };
      const float first = exec::shuffle(mean, 0), distance = mean - first, own_count = count;
      count = sum(count);
      const float further = sum(distance * own_count) * inverse(count);
      mean = first + further;
      squares = sum(squares + own_count * (distance - further) * (distance - further));
    };
    Block::reduce_waves(lds, combine, squares, mean, count);
  }

 private:
  TILEWRIGHT_HD static float inverse(float count) { return exec::rcp(exec::max(count, 1.0f)); }
};

}  // namespace tilewright::detail
