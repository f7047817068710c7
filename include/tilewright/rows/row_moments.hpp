// SPDX-License-Identifier: MIT
// Mean and variance of rows that arrive part by part, without cancellation (Welford, Chan).
#pragma once

#include <tilewright/rows/row_block.hpp>

namespace tilewright::detail {

/// Of each row of the block: how many elements, their mean, and the sum of squared distances from it. First of the
/// thread's own elements, after finish() of the whole rows.
template <class Block>
struct row_moments {
  typename Block::row_values count{}, mean{}, squares{};

  /// The part that begins at first_col, with zeros after the end of the rows.
  TILEWRIGHT_HD void add(const Block& rows, const typename Block::template part<float>& x, index_t first_col) {
    typename Block::template part<float> inside;
    set_tile(inside, 1.0f);
    rows.mask(inside, first_col, 0.0f);
    const auto more = Block::reduce_own(inside, plus);
    auto mean_of_part = Block::reduce_own(x, plus);
    tile_elementwise_inout([](float& m, float n) { m *= exec::rcp(exec::max(n, 1.0f)); }, mean_of_part, more);
    const auto distances = tile_elementwise_in([](float a, float in, float m) { return (a - m) * (a - m) * in; }, x,
                                               inside, along<0>(mean_of_part));
    const auto squares_of_part = Block::reduce_own(distances, plus);
    tile_elementwise_inout(
        [](float& n, float& m, float& s, float n_part, float m_part, float s_part) {
          const float distance = m_part - m, share = n_part * exec::rcp(exec::max(n + n_part, 1.0f));
          m += distance * share;
          s += s_part + distance * distance * n * share;
          n += n_part;
        },
        count, mean, squares, more, mean_of_part, squares_of_part);
  }

  /// Combines the threads that share rows; needs LDS for two reductions.
  TILEWRIGHT_HD void finish(const Block& rows, exec::lds_pointer lds) {
    const auto own = mean;
    const float one_of_row = 1.0f / float(rows.cols);
    tile_elementwise_inout([&](float& m, float n) { m *= n * one_of_row; }, mean, count);
    Block::reduce_threads(mean, plus, lds);
    tile_elementwise_inout([](float& s, float n, float m, float all) { s += n * (m - all) * (m - all); }, squares,
                           count, own, mean);
    Block::reduce_threads(squares, plus, lds + Block::lds_bytes);
  }
};

}  // namespace tilewright::detail
