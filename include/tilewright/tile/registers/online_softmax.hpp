// SPDX-License-Identifier: MIT
// Online softmax: rows whose scores arrive tile by tile, with a running maximum and a running sum.
#pragma once

#include <tilewright/tile/registers/reduce_tile.hpp>

namespace tilewright {

/// State of the softmax of the rows of tiles of Distribution, (rows, columns). Each tile s of scores, with
/// scale = log2(e) * the softmax's own factor, > 0:
///   m' = max(m, max s);  p = exp2((s - m') scale);  a = exp2((m - m') scale);  l = l a + sum p
/// What was accumulated with the p before is multiplied by a, and at the end divided by l = sum(). Scores of minus
/// infinity are masked; a row that is all masked has p = 0 and l = 0. Where waves share a row, each function needs
/// lds_bytes of LDS: no thread may still use it before, and a barrier must come before it is used again.
template <TileDistribution Distribution>
class online_softmax {
 public:
  using scores = static_distributed_tensor<float, Distribution>;  ///< s and p: (rows, columns).
  using row_values = static_distributed_tensor<float, reduced_distribution<Distribution, 1>>;  ///< m, l, a: (rows).
  static constexpr index_t lds_bytes = reduce_lds_bytes<scores, 1>;  ///< 0 if no two waves share a row.

  /// No scores so far: m is minus infinity, l is 0.
  TILEWRIGHT_HD online_softmax() {
    set_tile(largest_, -__builtin_inff());
    clear_tile(sum_);
  }

  /// Turns the next scores of each row into p, and returns a.
  TILEWRIGHT_HD row_values update(scores& s, float scale, exec::call_site where = {}) {
    return add(s, row_reduce(s, max, largest_, where), scale);
  }
  TILEWRIGHT_HD row_values update(scores& s, float scale, exec::lds_pointer lds, exec::call_site where = {}) {
    return add(s, row_reduce(s, max, largest_, lds, where), scale);
  }

  /// l of each row, in all threads that hold the row.
  TILEWRIGHT_HD row_values sum() const {
    row_values all = sum_;
    detail::reduce_lanes<Distribution::encoding.r.size()>(all, plus);
    static_assert(lds_bytes == 0, "online_softmax: waves share the rows; pass lds_bytes of LDS to sum()");
    return all;
  }
  TILEWRIGHT_HD row_values sum(exec::lds_pointer lds, exec::call_site where = {}) const {
    const exec::call_scope scope(where);
    row_values all = sum_;
    detail::reduce_lanes<Distribution::encoding.r.size()>(all, plus);
    if constexpr (lds_bytes > 0) detail::reduce_waves<Distribution::encoding.r.size()>(all, lds, plus);
    return all;
  }
  /// m of each row, not scaled; minus infinity before its first score that is not masked.
  TILEWRIGHT_HD const row_values& largest() const { return largest_; }

 private:
  TILEWRIGHT_HD row_values add(scores& s, const row_values& now, float scale) {
    row_values factors, offset;  // offset: m' times the scale, or 0 where nothing but minus infinity has come
    for (index_t r = 0; r < row_values::num_elements; ++r) {
      const float m = now.thread_buffer[r];
      offset.thread_buffer[r] = m == -__builtin_inff() ? 0.0f : m * scale;
      factors.thread_buffer[r] = exec::exp2(largest_.thread_buffer[r] * scale - offset.thread_buffer[r]);
    }
    tile_elementwise_inout([&](float& x, float of_row) TILEWRIGHT_INLINE_LAMBDA { x = exec::exp2(x * scale - of_row); },
                           s, along<0>(offset));
    // Each thread adds up what it holds; lanes and waves are combined in sum().
    const auto added = detail::reduce_registers<float>(s, plus, sequence<1>{});
    for (index_t r = 0; r < row_values::num_elements; ++r)
      sum_.thread_buffer[r] = sum_.thread_buffer[r] * factors.thread_buffer[r] + added.thread_buffer[r];
    largest_ = now;
    return factors;
  }

  row_values largest_, sum_;
};

}  // namespace tilewright
