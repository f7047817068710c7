// SPDX-License-Identifier: MIT
// What a reduction knows about the elements that it has seen: sum, maximum with its position, mean and variance.
#pragma once

#include <tilewright/exec/math.hpp>
#include <tilewright/numeric/bits.hpp>
#include <tilewright/util/array.hpp>

namespace tilewright {

enum class reduce_kind : signed char { sum, mean, maximum, mean_variance };

namespace detail {

/// Some elements of one reduction: `count` groups of `Vector`, of which group u exists if position[u] >= 0 and starts
/// there; elements that do not exist are zero.
template <index_t Count, index_t Vector>
struct reduce_chunk {
  float x[Count * Vector];
  index_t position[Count];
};

/// Of sum and mean.
template <reduce_kind Kind>
struct reduce_state {
  float total = 0;

  template <index_t Count, index_t Vector>
  TILEWRIGHT_HD void add(const reduce_chunk<Count, Vector>& chunk) {
    float sum = 0;
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < Count * Vector; ++i) sum += chunk.x[i];
    total += sum;
  }
  TILEWRIGHT_HD void merge(const reduce_state& other) { total += other.total; }
};

/// A NaN loses against numbers.
template <>
struct reduce_state<reduce_kind::maximum> {
  static constexpr index_t none = 0x7fffffff;
  float largest = bit_cast<float>(0xff800000u);
  index_t position = none;

  template <index_t Count, index_t Vector>
  TILEWRIGHT_HD void add(const reduce_chunk<Count, Vector>& chunk) {
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < Count * Vector; ++i) {
      if (chunk.position[i / Vector] >= 0) merge({chunk.x[i], chunk.position[i / Vector] + i % Vector});
    }
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

  template <index_t Count, index_t Vector>
  TILEWRIGHT_HD void add(const reduce_chunk<Count, Vector>& chunk) {
    reduce_state more;
    TILEWRIGHT_UNROLL_ALL
    for (index_t u = 0; u < Count; ++u) more.count += chunk.position[u] >= 0 ? float(Vector) : 0.0f;
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < Count * Vector; ++i) more.mean += chunk.x[i];
    more.mean *= exec::rcp(exec::max(more.count, 1.0f));
    TILEWRIGHT_UNROLL_ALL
    for (index_t i = 0; i < Count * Vector; ++i) {
      const float distance = chunk.position[i / Vector] >= 0 ? chunk.x[i] - more.mean : 0.0f;
      more.squares += distance * distance;
    }
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
