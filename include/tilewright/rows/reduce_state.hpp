// SPDX-License-Identifier: MIT
// What a reduction knows about the elements that it has seen: sum, maximum with its position, mean and variance.
#pragma once

#include <tilewright/exec/math.hpp>
#include <tilewright/numeric/bits.hpp>
#include <tilewright/util/array.hpp>

namespace tilewright {

enum class reduce_kind : signed char { sum, mean, maximum, mean_variance };

namespace detail {

/// Some elements of one reduction: `Count` groups of `Vector`. Element e of group u has the number first[u] + e and
/// exists if that is at least 0 and less than `end`; elements that do not exist are zero. Groups that are not Ragged
/// exist as a whole or not at all.
template <index_t Count, index_t Vector, bool Ragged>
struct reduce_chunk {
  static constexpr index_t size = Count * Vector;

  float x[Count * Vector];
  index_t first[Count], end;

  TILEWRIGHT_HD index_t number(index_t i) const { return first[i / Vector] + i % Vector; }
  TILEWRIGHT_HD bool exists(index_t i) const {
    return unsigned(Ragged ? number(i) : first[i / Vector]) < unsigned(end);
  }
  /// How many exist.
  TILEWRIGHT_HD float count() const {
    index_t n = 0;
    TILEWRIGHT_UNROLL_ALL
    for (index_t u = 0; u < Count; ++u)
      n += Ragged ? max(0, min(first[u] + Vector, end) - max(first[u], 0)) : exists(u * Vector) ? Vector : 0;
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

/// A NaN loses against numbers.
template <>
struct reduce_state<reduce_kind::maximum> {
  static constexpr index_t none = 0x7fffffff;
  float largest = bit_cast<float>(0xff800000u);
  index_t position = none;

  TILEWRIGHT_HD void add(const auto& chunk) {
    reduce_state more;
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < chunk.size; ++i)
      more.largest = chunk.exists(i) ? exec::max(more.largest, chunk.x[i]) : more.largest;
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = chunk.size; i-- > 0;)
      more.position = chunk.x[i] == more.largest && chunk.exists(i) ? chunk.number(i) : more.position;
    merge(more);
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
                exec::rcp(exec::max(more.count, 1.0f));
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
