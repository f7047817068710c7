// SPDX-License-Identifier: MIT
// What a reduction knows about the elements that it has seen: sum, maximum with its position, mean and variance.
#pragma once

#include <tilewright/exec/math.hpp>
#include <tilewright/numeric/bits.hpp>
#include <tilewright/util/array.hpp>

namespace tilewright {

enum class reduce_kind : signed char { sum, mean, maximum, mean_variance };

namespace detail {

/// Some elements of one result: `Count` accesses to `Vector` elements each, in the order of their numbers. Of access u
/// the elements from first[u] to end[u] - 1 exist. Functions with IsCut know them, others only whether there are any.
template <index_t Count, index_t Vector>
struct reduce_chunk {
  float x[Count][Vector];
  index_t number[Count];  // of the first element of each access that exists; an access without one repeats another
  index_t first[Count], end[Count];

  TILEWRIGHT_HD bool is_cut() const {
    bool cut = false;
    TILEWRIGHT_UNROLL_ALL
    for (index_t u = 0; u < Count; ++u) cut = cut || end[u] - first[u] != Vector;
    return cut;
  }
  template <bool IsCut>
  TILEWRIGHT_HD bool has(index_t u, index_t e) const {
    return !IsCut || (e >= first[u] && e < end[u]);
  }
  /// The sum of f(x) over all elements that exist.
  template <bool IsCut, class F>
  TILEWRIGHT_HD float sum(F f) const {
    float total = 0;
    TILEWRIGHT_UNROLL_ALL
    for (index_t u = 0; u < Count; ++u) {
      float part = has<IsCut>(u, 0) ? f(x[u][0]) : 0.0f;
      TILEWRIGHT_UNROLL_ALL
      for (index_t e = 1; e < Vector; ++e) part += has<IsCut>(u, e) ? f(x[u][e]) : 0.0f;
      total += IsCut || end[u] > 0 ? part : 0.0f;
    }
    return total;
  }
};

/// The state of a sum and of a mean.
template <reduce_kind Kind>
struct reduce_state {
  float total = 0;

  template <bool IsCut, index_t Count, index_t Vector>
  TILEWRIGHT_HD void add(const reduce_chunk<Count, Vector>& chunk) {
    total += chunk.template sum<IsCut>([](float x) TILEWRIGHT_INLINE_LAMBDA { return x; });
  }
  TILEWRIGHT_HD void merge(const reduce_state& other) { total += other.total; }
  TILEWRIGHT_HD void set_count_of(const reduce_state&) {}
};

/// A NaN loses against numbers; while there is no number, `largest` is one. `position` is that of the first element of
/// the access with the largest one: reduce_block::with_first finds the element.
template <>
struct reduce_state<reduce_kind::maximum> {
  static constexpr index_t none = 0x7fffffff;
  float largest = bit_cast<float>(0x7fc00000u);
  index_t position = none;

  /// Numbers must be higher than those before.
  template <bool IsCut, index_t Count, index_t Vector>
  TILEWRIGHT_HD void add(const reduce_chunk<Count, Vector>& chunk) {
    TILEWRIGHT_UNROLL_ALL
    for (index_t u = 0; u < Count; ++u) {
      float larger = largest;
      TILEWRIGHT_UNROLL_ALL
      for (index_t e = 0; e < Vector; ++e)
        larger = exec::max(larger, chunk.template has<IsCut>(u, e) ? chunk.x[u][e] : largest);
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
  TILEWRIGHT_HD void set_count_of(const reduce_state&) {}
};

/// Welford's method for chunks, Chan's for two states: a large mean does not destroy the variance.
template <>
struct reduce_state<reduce_kind::mean_variance> {
  float count = 0, mean = 0, squares = 0;  // squares: of the distances from the mean

  template <bool IsCut, index_t Count, index_t Vector>
  TILEWRIGHT_HD void add(const reduce_chunk<Count, Vector>& chunk) {
    reduce_state more;
    TILEWRIGHT_UNROLL_ALL
    for (index_t u = 0; u < Count; ++u) more.count += float(max(chunk.end[u] - chunk.first[u], 0));
    more.mean = chunk.template sum<IsCut>([](float x) TILEWRIGHT_INLINE_LAMBDA { return x; }) *
                exec::rcp(exec::max(more.count, 1.0f));
    more.squares =
        chunk.template sum<IsCut>([&](float x) TILEWRIGHT_INLINE_LAMBDA { return (x - more.mean) * (x - more.mean); });
    merge(more);
  }
  TILEWRIGHT_HD void merge(const reduce_state& other) {
    const float distance = other.mean - mean, share = other.count * exec::rcp(exec::max(count + other.count, 1.0f));
    squares += other.squares + distance * distance * count * share;
    mean += distance * share;
    count += other.count;
  }
  /// `other` has seen as many elements: one register has the count of all.
  TILEWRIGHT_HD void set_count_of(const reduce_state& other) { count = other.count; }
};

}  // namespace detail

}  // namespace tilewright
