// SPDX-License-Identifier: MIT
// What a reduction knows about the elements that it has seen: sum, maximum with its position, mean and variance.
#pragma once

#include <tilewright/exec/math.hpp>
#include <tilewright/numeric/bits.hpp>
#include <tilewright/util/array.hpp>

namespace tilewright {

enum class reduce_kind : signed char { sum, mean, maximum, mean_variance };

namespace detail {

/// Some elements of one reduction: `Count` groups of `Vector`; element e of group u has the number first[u] + e. If the
/// chunk IsPartial, only those with numbers from 0 to `end` - 1 exist; the others are zero.
template <index_t Count, index_t Vector, bool IsPartial>
struct reduce_chunk {
  static constexpr index_t size = Count * Vector;
  static constexpr bool is_partial = IsPartial;

  float x[size];
  index_t first[Count], end;

  TILEWRIGHT_HD index_t number(index_t i) const { return first[i / Vector] + i % Vector; }
  TILEWRIGHT_HD bool exists(index_t i) const { return !IsPartial || unsigned(number(i)) < unsigned(end); }
  /// How many exist.
  TILEWRIGHT_HD float count() const {
    if (!IsPartial) return float(size);
    index_t n = 0;
    TILEWRIGHT_UNROLL_ALL
    for (index_t u = 0; u < Count; ++u) n += max(0, min(first[u] + Vector, end) - max(first[u], 0));
    return float(n);
  }
  /// The sum of f(i) over all elements, in four parts that do not wait for each other.
  template <class F>
  TILEWRIGHT_HD float sum(F f) const {
    float parts[4] = {};
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < size; ++i) parts[i % 4] += f(i);
    return (parts[0] + parts[1]) + (parts[2] + parts[3]);
  }
};

/// The state of a sum and of a mean.
template <reduce_kind Kind>
struct reduce_state {
  float total = 0;

  TILEWRIGHT_HD void add(const auto& chunk) {
    total += chunk.sum([&](index_t i) TILEWRIGHT_INLINE_LAMBDA { return chunk.x[i]; });
  }
  TILEWRIGHT_HD void merge(const reduce_state& other) { total += other.total; }
};

/// A NaN counts as -infinity. A thread adds its chunks in the order of their numbers.
template <>
struct reduce_state<reduce_kind::maximum> {
  static constexpr index_t none = 0x7fffffff;
  float largest = bit_cast<float>(0xff800000u);
  index_t position = none;

  TILEWRIGHT_HD void add(const auto& chunk) {
    position = position == none ? max(chunk.first[0], 0) : position;
    float most = largest;
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < chunk.size; ++i) most = chunk.exists(i) ? exec::max(most, chunk.x[i]) : most;
    if (most <= largest) return;
    largest = most;
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = chunk.size; i-- > 0;)
      position = chunk.x[i] == most && chunk.exists(i) ? chunk.number(i) : position;
  }
  TILEWRIGHT_HD void merge(const reduce_state& other) {
    const bool is_first = other.largest > largest || (other.largest == largest && other.position < position);
    largest = is_first ? other.largest : largest;
    position = is_first ? other.position : position;
  }
};

/// Welford's method for chunks, Chan's for two states: a large mean does not destroy the variance.
template <>
struct reduce_state<reduce_kind::mean_variance> {
  float count = 0, mean = 0, squares = 0;  // squares: of the distances from the mean

  TILEWRIGHT_HD void add(const auto& chunk) {
    reduce_state more;
    more.count = chunk.count();
    more.mean = chunk.sum([&](index_t i) TILEWRIGHT_INLINE_LAMBDA { return chunk.x[i]; }) *
                (chunk.is_partial ? exec::rcp(exec::max(more.count, 1.0f)) : 1.0f / float(chunk.size));
    more.squares = chunk.sum([&](index_t i) TILEWRIGHT_INLINE_LAMBDA {
      const float distance = chunk.exists(i) ? chunk.x[i] - more.mean : 0.0f;
      return distance * distance;
    });
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
