// SPDX-License-Identifier: MIT
// What a reduction knows about the elements that it has seen: sum, maximum with its position, mean and variance.
#pragma once

#include <tilewright/exec/math.hpp>
#include <tilewright/numeric/bits.hpp>
#include <tilewright/util/array.hpp>

namespace tilewright {

enum class reduce_kind : signed char { sum, mean, maximum, mean_variance };

namespace detail {

/// Some elements of one result: `Count` accesses to `Vector` elements each, in the order of their numbers. Those that
/// do not exist repeat the last one that does.
template <index_t Count, index_t Vector>
struct reduce_chunk {
  float x[Count][Vector];
  index_t number[Count];  // of the first element of each access
  bool exists[Count];

  /// The sum of f(x) over all elements that exist.
  template <class F>
  TILEWRIGHT_HD float sum(F f) const {
    float total = 0;
    TILEWRIGHT_UNROLL_ALL
    for (index_t u = 0; u < Count; ++u) {
      float part = f(x[u][0]);
      TILEWRIGHT_UNROLL_ALL
      for (index_t e = 1; e < Vector; ++e) part += f(x[u][e]);
      total += exists[u] ? part : 0.0f;
    }
    return total;
  }
};

/// The state of a sum and of a mean.
template <reduce_kind Kind>
struct reduce_state {
  float total = 0;

  template <index_t Count, index_t Vector>
  TILEWRIGHT_HD void add(const reduce_chunk<Count, Vector>& chunk) {
    total += chunk.sum([](float x) TILEWRIGHT_INLINE_LAMBDA { return x; });
  }
  TILEWRIGHT_HD void merge(const reduce_state& other) { total += other.total; }
};

/// A NaN loses against numbers; while there is no number, `largest` is one. `position` is that of the first element of
/// the access with the largest one: reduce_block::with_first finds the element.
template <>
struct reduce_state<reduce_kind::maximum> {
  static constexpr index_t none = 0x7fffffff;
  float largest = bit_cast<float>(0x7fc00000u);
  index_t position = none;

  /// Numbers must be higher than those before.
  template <index_t Count, index_t Vector>
  TILEWRIGHT_HD void add(const reduce_chunk<Count, Vector>& chunk) {
    TILEWRIGHT_UNROLL_ALL
    for (index_t u = 0; u < Count; ++u) {
      float larger = chunk.x[u][0];
      TILEWRIGHT_UNROLL_ALL
      for (index_t e = 1; e < Vector; ++e) larger = exec::max(larger, chunk.x[u][e]);
      larger = exec::max(larger, largest);
      position = larger != largest ? chunk.number[u] : position;
      largest = larger;
    }
  }
  TILEWRIGHT_HD void merge(const reduce_state& other) {
    const float larger = exec::max(largest, other.largest);
    const bool is_first = larger != largest || (larger == other.largest && other.position < position);
    largest = larger;
    position = is_first ? other.position : position;
  }
};

/// Welford's method for chunks, Chan's for two states: a large mean does not destroy the variance.
template <>
struct reduce_state<reduce_kind::mean_variance> {
  float count = 0, mean = 0, squares = 0;  // squares: of the distances from the mean

  template <index_t Count, index_t Vector>
  TILEWRIGHT_HD void add(const reduce_chunk<Count, Vector>& chunk) {
    reduce_state more;
    TILEWRIGHT_UNROLL_ALL
    for (index_t u = 0; u < Count; ++u) more.count += chunk.exists[u] ? float(Vector) : 0.0f;
    more.mean = chunk.sum([](float x) TILEWRIGHT_INLINE_LAMBDA { return x; }) * exec::rcp(more.count);
    more.squares = chunk.sum([&](float x) TILEWRIGHT_INLINE_LAMBDA { return (x - more.mean) * (x - more.mean); });
    merge(more);
  }
  TILEWRIGHT_HD void merge(const reduce_state& other) {
    const float distance = other.mean - mean, share = other.count * exec::rcp(exec::max(count + other.count, 1.0f));
    squares += other.squares + distance * distance * count * share;
    mean += distance * share;
    count += other.count;
  }
};

}  // namespace detail

}  // namespace tilewright
