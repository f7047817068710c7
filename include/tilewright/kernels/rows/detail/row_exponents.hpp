// SPDX-License-Identifier: MIT
// Largest element and sum of exponentials of rows that arrive part by part.
#pragma once

#include <tilewright/block/rows/row_block.hpp>
#include <tilewright/core/base/bits.hpp>
#include <tilewright/core/base/math.hpp>

namespace tilewright::detail {

/// The largest element and the sum of exp(x - largest) of each row of the block: first those of the thread's own
/// elements, after finish() those of whole rows.
template <class Block>
struct row_exponents {
  float largest = -3.4028235e38f, sum = 0;

  /// The part that begins at first_col; becomes exp(x - largest), with the thread's own largest so far.
  TILEWRIGHT_HD void add(const Block& rows, typename Block::template segment<float>& x, index_t first_col) {
    TILEWRIGHT_UNROLL_ALL
    for (index_t d = 0; d < Block::elements; ++d)  // selected without a branch, after which all would need registers
      x.thread_buffer[d] = rows.exists(first_col, d) ? x.thread_buffer[d] : minus_infinity();
    const float before = largest;
    largest = exec::max(largest, Block::reduce_own(x, max));
    to_exponents(x);
    sum = sum * factor(before, largest) + Block::reduce_own(x, plus);
  }
  /// exp(x - largest).
  TILEWRIGHT_HD void to_exponents(typename Block::template segment<float>& x) const {
    tile_elementwise_inout([&](float& a) { a = factor(a, largest); }, x);
  }
  /// Combines the threads that share rows. LDS for two reductions.
  TILEWRIGHT_HD void finish(exec::lds_pointer lds) {
    const auto combine = [&](auto n) TILEWRIGHT_INLINE_LAMBDA {
      constexpr index_t lanes = decltype(n)::value;
      const float own = largest;
      largest = combine_lanes<1, lanes>(largest, max);
      sum = combine_lanes<1, lanes>(sum * factor(own, largest), plus);
    };
    Block::reduce_levels(lds, combine, largest, sum);
  }
  /// exp(from - to).
  TILEWRIGHT_HD static float factor(float from, float to) { return exec::exp2((from - to) * log2_e); }
};

}  // namespace tilewright::detail
