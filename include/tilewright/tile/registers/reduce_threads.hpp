// SPDX-License-Identifier: MIT
// Combines partial results of a reduction across the lanes of a wave and across the waves of a block.
#pragma once

#include <tilewright/machine/exec/exec.hpp>
#include <tilewright/tile/registers/static_distributed_tensor.hpp>

namespace tilewright::detail {

/// f(a, b); max and min by the machine's instruction, with exec's rule for NaN.
TILEWRIGHT_CALLS_ANYTHING
template <class T, class F>
TILEWRIGHT_HD constexpr T combine(F f, T a, T b) {
  if constexpr (__is_same(F, max_function)) {
    return exec::max(a, b);
  } else if constexpr (__is_same(F, min_function)) {
    return exec::min(a, b);
  } else {
    return f(a, b);
  }
}

/// Threads that hold copies (or partial results) of the same elements: `count` of them, `stride` apart in a partition
/// index. A count of 1 if the factor of R belongs to another partition index.
struct replicas {
  index_t stride = 1, count = 1;
};
TILEWRIGHT_HD constexpr replicas replicas_of(const distribution_encoding& e, index_t partition, index_t factor) {
  replicas result;
  for (index_t j = e.p[partition].size(); j-- > 0;) {
    const rh_id id = e.p[partition][j];
    if (id.major == 0 && id.minor == factor) {
      result.count = e.length(id);
      return result;
    }
    result.stride *= e.length(id);
  }
  return {};
}

/// f over Count lanes that are Stride apart, in all of them.
template <index_t Stride, index_t Count, class T, class F>
TILEWRIGHT_HD T combine_lanes(T value, F f) {
  if constexpr (is_power_of_two(Stride) && is_power_of_two(Count)) {
    unroll<log2_floor(Count)>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
      value = combine(f, value, exec::shuffle_xor<(Stride << i.value)>(value));
    });
    return value;
  } else {
    const index_t lane = exec::lane_id(), digit = modulo(divide(lane, Stride), Count);
    T result = exec::shuffle(value, lane - digit * Stride);
    unroll<Count - 1>(
        [&](auto i) { result = combine(f, result, exec::shuffle(value, lane + (i.value + 1 - digit) * Stride)); });
    return result;
  }
}

/// Combines partial results across the lanes of each wave that differ in factors of R from number First on.
TILEWRIGHT_CALLS_ANYTHING
template <index_t First, class Acc, class Distribution, class F>
TILEWRIGHT_HD void reduce_lanes(static_distributed_tensor<Acc, Distribution>& tile, F f) {
  unroll<Distribution::encoding.r.size() - First>([&](auto factor) TILEWRIGHT_INLINE_LAMBDA {
    constexpr replicas of = replicas_of(Distribution::encoding, Distribution::ndim_p - 1, First + factor.value);
    if constexpr (of.count > 1) {
      for (Acc& element : tile.thread_buffer) element = combine_lanes<of.stride, of.count>(element, f);
    }
  });
}

/// The waves that combine their results: they differ from the first of them by `offsets`.
template <index_t Waves>
struct wave_group {
  index_t count = 1;
  array<index_t, Waves> offsets{};
};
template <class Distribution, index_t First>
inline constexpr auto wave_group_v = [] {
  constexpr distribution_encoding e = Distribution::encoding;
  wave_group<Distribution::ndim_p == 2 ? e.p_length(0) : 1> group;
  for (index_t r = First; Distribution::ndim_p == 2 && r < e.r.size(); ++r) {
    const replicas of = replicas_of(e, 0, r);
    for (index_t i = group.count; i < group.count * of.count; ++i)
      group.offsets[i] = group.offsets[i % group.count] + i / group.count * of.stride;
    group.count *= of.count;
  }
  return group;
}();

/// LDS for values that waves exchange: a word of 4 bytes for each wave, each of Values values and each lane that holds
/// another one. Lanes that differ in factors of R only hold copies; the first of them stores.
template <class Distribution, index_t Values>
struct wave_slots {
  static constexpr distribution_encoding encoding = Distribution::encoding;
  static constexpr index_t lanes = [] {
    index_t n = 1;
    for (const rh_id id : encoding.p[1]) n *= id.major == 0 ? 1 : encoding.length(id);
    return n;
  }();
  static constexpr index_t value_bytes = lanes * 4, bytes = encoding.p_length(0) * Values * value_bytes;

  /// Calls f(id, digit, stride) for each factor of the calling lane's number, the least significant first.
  template <class F>
  TILEWRIGHT_HD static void for_each_digit(F f) {
    unsigned rest = unsigned(exec::lane_id());
    unroll<encoding.p[1].size()>([&](auto j) TILEWRIGHT_INLINE_LAMBDA {
      constexpr rh_id id = encoding.p[1][encoding.p[1].size() - 1 - j.value];
      constexpr unsigned length = unsigned(encoding.length(id));
      f(number<id.major == 0>{}, rest % length, number<index_t(length)>{});
      rest /= length;
    });
  }
  TILEWRIGHT_HD static bool is_first_lane() {
    bool is_first = true;
    for_each_digit([&](auto is_copy, unsigned digit, auto) TILEWRIGHT_INLINE_LAMBDA {
      if constexpr (is_copy.value) is_first = is_first && digit == 0;
    });
    return is_first;
  }
  /// Bytes from the start of this LDS to value 0 of a wave, for the calling lane; value i is i * value_bytes after it.
  TILEWRIGHT_HD static index_t offset(index_t wave) {
    unsigned slot = 0, stride = 1;
    for_each_digit([&](auto is_copy, unsigned digit, auto length) TILEWRIGHT_INLINE_LAMBDA {
      if constexpr (!is_copy.value) {
        slot += digit * stride;
        stride *= unsigned(length.value);
      }
    });
    return wave * (Values * value_bytes) + index_t(slot) * 4;
  }
};

/// Combines partial results across waves that differ in factors of R from number First on, all in the same order.
TILEWRIGHT_CALLS_ANYTHING
template <index_t First, class Acc, class Distribution, class F>
TILEWRIGHT_HD void reduce_waves(static_distributed_tensor<Acc, Distribution>& tile, exec::lds_pointer lds, F f) {
  constexpr index_t n = Distribution::num_elements;
  using slots = wave_slots<Distribution, n>;
  const index_t wave = exec::wave_id(), own = slots::offset(wave);
  if (slots::is_first_lane()) {
    TILEWRIGHT_UNROLL_ALL
    for (index_t d = 0; d < n; ++d) exec::lds_store(lds, own + d * slots::value_bytes, tile.thread_buffer[d]);
  }
  exec::block_sync();
  index_t first = wave;
  unroll<Distribution::encoding.r.size() - First>([&](auto r) TILEWRIGHT_INLINE_LAMBDA {
    constexpr replicas of = replicas_of(Distribution::encoding, 0, First + r.value);
    first -= modulo(divide(wave, constant(of.stride)), constant(of.count)) * constant(of.stride);
  });
  const auto load = [&](index_t of_wave, index_t d) TILEWRIGHT_INLINE_LAMBDA {
    return exec::lds_load<Acc>(lds, slots::offset(of_wave) + d * slots::value_bytes);
  };
  TILEWRIGHT_UNROLL_ALL
  for (index_t d = 0; d < n; ++d) tile.thread_buffer[d] = load(first, d);
  unroll<wave_group_v<Distribution, First>.count - 1>([&](auto i) {
    const index_t other = first + constant(wave_group_v<Distribution, First>.offsets[i.value + 1]);
    TILEWRIGHT_UNROLL_ALL
    for (index_t d = 0; d < n; ++d) tile.thread_buffer[d] = combine(f, tile.thread_buffer[d], load(other, d));
  });
}

}  // namespace tilewright::detail
