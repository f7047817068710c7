// SPDX-License-Identifier: MIT
// What a reduction knows about the elements that it has seen: sum, maximum with its position, mean and variance.
#pragma once

#include <tilewright/core/base/array.hpp>
#include <tilewright/core/base/bits.hpp>
#include <tilewright/machine/exec/math.hpp>

namespace tilewright {

enum class reduce_kind : signed char { sum, mean, maximum, mean_variance };

namespace detail {

struct reduce_sums {
  float count = 0, total = 0, squares = 0;
};

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
  /// An element that exists; 0 if there is none.
  template <bool IsCut>
  TILEWRIGHT_HD float any() const {
    float element = IsCut ? 0.0f : x[0][0];
    TILEWRIGHT_UNROLL_ALL
    for (index_t u = 0; u < Count && IsCut; ++u) {
      TILEWRIGHT_UNROLL_ALL
      for (index_t e = 0; e < Vector; ++e) element = has<IsCut>(u, e) ? x[u][e] : element;
    }
    return element;
  }
  /// The number of elements that exist, the sum of their distances from `origin` and that of the squares of these.
  template <bool IsCut>
  TILEWRIGHT_HD reduce_sums sums(float origin) const {
    reduce_sums all;
    TILEWRIGHT_UNROLL_ALL
    for (index_t u = 0; u < Count; ++u) {
      float total = 0, squares = 0;
      TILEWRIGHT_UNROLL_ALL
      for (index_t e = 0; e < Vector; ++e) {
        const float distance = has<IsCut>(u, e) ? x[u][e] - origin : 0.0f;
        total = e == 0 ? distance : total + distance;
        squares = e == 0 ? distance * distance : squares + distance * distance;
      }
      if (!IsCut && end[u] == 0) continue;
      all.count += IsCut ? float(max(end[u] - first[u], 0)) : float(Vector);
      all.total += total;
      all.squares += squares;
    }
    return all;
  }
};

/// The state of a sum and of a mean.
template <reduce_kind Kind>
struct reduce_state {
  float total = 0;

  template <bool IsCut, index_t Count, index_t Vector>
  TILEWRIGHT_HD void add(const reduce_chunk<Count, Vector>& chunk) {
    total += chunk.template sums<IsCut>(0).total;
  }
  TILEWRIGHT_HD void merge(const reduce_state& other) { total += other.total; }
  TILEWRIGHT_HD float result(float one_of_elements) const {
    return Kind == reduce_kind::mean ? total * one_of_elements : total;
  }
};

/// Numbers come before NaN; while there is no number, `largest` is one. `position` is that of the first element of
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
  TILEWRIGHT_HD float result(float) const { return largest; }
  TILEWRIGHT_HD index_t first() const { return largest != largest ? none : position; }
};

/// Welford's method for chunks, Chan's for two states: a large mean does not destroy the variance.
template <>
struct reduce_state<reduce_kind::mean_variance> {
  float count = 0, mean = 0, squares = 0;  // squares: of the distances from the mean

  /// Adds distances from the mean of what came before, or from one of the first elements.
  template <bool IsCut, index_t Count, index_t Vector>
  TILEWRIGHT_HD void add(const reduce_chunk<Count, Vector>& chunk) {
    if (count == 0) mean = chunk.template any<IsCut>();
    const reduce_sums more = chunk.template sums<IsCut>(mean);
    count += more.count;
    const float step = more.total * exec::rcp(exec::max(count, 1.0f));
    mean += step;
    squares += more.squares - more.total * step;
  }
  TILEWRIGHT_HD void merge(const reduce_state& other) {
    const float distance = other.mean - mean, share = other.count * exec::rcp(exec::max(count + other.count, 1.0f));
    squares += other.squares + distance * distance * count * share;
    mean += distance * share;
    count += other.count;
  }
  TILEWRIGHT_HD float result(float) const { return mean; }
  TILEWRIGHT_HD float variance(float one_of_elements) const { return squares < 0 ? 0 : squares * one_of_elements; }
};

}  // namespace detail

}  // namespace tilewright
