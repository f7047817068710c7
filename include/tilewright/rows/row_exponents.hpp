// SPDX-License-Identifier: MIT
// Largest element and sum of exponentials of rows that arrive part by part.
#pragma once

#include <tilewright/rows/row_block.hpp>
#include <tilewright/util/math.hpp>

namespace tilewright::detail {

/// The largest element and the sum of exp(x - largest) of each row of the block: first those of the thread's own
/// elements, after finish() those of whole rows.
template <class Block>
struct row_exponents {
  static constexpr index_t reductions = 2;
  typename Block::row_values largest, sum;

  TILEWRIGHT_HD row_exponents() {
    set_tile(largest, -3.4028235e38f);
    set_tile(sum, 0.0f);
  }
  /// The part that begins at first_col; becomes exp(x - largest), with the thread's own largest so far.
  TILEWRIGHT_HD void add(const Block& rows, typename Block::template part<float>& x, index_t first_col) {
    rows.mask(x, first_col, bit_cast<float>(0xff800000u));
    const auto before = largest;
    tile_elementwise_inout([](float& m, float more) { m = exec::max(m, more); }, largest, Block::reduce_own(x, max));
    to_exponents(x);
    tile_elementwise_inout(rescale_function{}, sum, before, largest);
    add_to(sum, Block::reduce_own(x, plus));
  }
  /// exp(x - largest).
  TILEWRIGHT_HD void to_exponents(typename Block::template part<float>& x) const {
    tile_elementwise_inout([](float& a, float m) { a = exec::exp2((a - m) * log2_e); }, x, along<0>(largest));
  }
  /// Combines the threads that share rows. LDS for two reductions.
  TILEWRIGHT_HD void finish(exec::lds_pointer lds) {
    Block::reduce_levels(
        lds,
        [&](auto n) TILEWRIGHT_INLINE_LAMBDA {
          constexpr index_t lanes = decltype(n)::value;
          const auto own = largest;
          float &most = largest.thread_buffer[0], &all = sum.thread_buffer[0];
          most = combine_lanes<1, lanes>(most, max);
          tile_elementwise_inout(rescale_function{}, sum, own, largest);
          all = combine_lanes<1, lanes>(all, plus);
        },
        largest, sum);
  }

 private:
  struct rescale_function {
    TILEWRIGHT_HD void operator()(float& s, float from, float to) const { s *= exec::exp2((from - to) * log2_e); }
  };
};

}  // namespace tilewright::detail
