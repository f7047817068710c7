// SPDX-License-Identifier: MIT
// Combines the elements of a tile along some of its dimensions: in each thread, across the lanes of a wave, across the
// waves of a block.
#pragma once

#include <tilewright/distribution/reduce_encoding.hpp>
#include <tilewright/tile/elementwise.hpp>
#include <tilewright/tile/reduced_registers.hpp>

namespace tilewright {

/// What reductions combine with; identity<T>() is the value to begin with.
struct reduce_sum {
  template <class T>
  TILEWRIGHT_HD static constexpr T identity() {
    return T(0);
  }
  template <class T>
  TILEWRIGHT_HD constexpr T operator()(T a, T b) const {
    return a + b;
  }
};
struct reduce_max {
  template <class T>
  TILEWRIGHT_HD static constexpr T identity() {
    static_assert(__is_same(T, float) || __is_same(T, int), "reduce_max: combine floats or ints");
    if constexpr (__is_same(T, int)) return -2147483647 - 1;
    if constexpr (__is_same(T, float)) return bit_cast<float>(0xff800000u);
  }
  template <class T>
  TILEWRIGHT_HD constexpr T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};
struct reduce_min {
  template <class T>
  TILEWRIGHT_HD static constexpr T identity() {
    static_assert(__is_same(T, float) || __is_same(T, int), "reduce_min: combine floats or ints");
    if constexpr (__is_same(T, int)) return 2147483647;
    if constexpr (__is_same(T, float)) return bit_cast<float>(0x7f800000u);
  }
  template <class T>
  TILEWRIGHT_HD constexpr T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};

namespace detail {

/// How far apart in a partition index the threads are that replicate factor id, and how many;
/// 1 thread if this index does not own it.
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

/// The result of f over Count lanes that are Stride apart, in all of them.
template <index_t Stride, index_t Count, class T, class F>
TILEWRIGHT_HD T combine_lanes(T value, F f) {
  if constexpr (is_power_of_two(Stride) && is_power_of_two(Count)) {
    unroll<log2_floor(Count)>(
        [&](auto i) TILEWRIGHT_INLINE_LAMBDA { value = f(value, exec::shuffle_xor<(Stride << i.value)>(value)); });
    return value;
  } else {
    const index_t lane = exec::lane_id(), digit = modulo(divide(lane, Stride), Count);
    T result = exec::shuffle(value, lane - digit * Stride);
    unroll<Count - 1>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
      result = f(result, exec::shuffle(value, lane + (i.value + 1 - digit) * Stride));
    });
    return result;
  }
}

}  // namespace detail

/// Combines, in each thread, what it holds along dimensions Dims: result = f(f(init, converted element), ...). The
/// result's tile lacks these dimensions; threads that differed along them then hold partial results of the same
/// elements (replication R), which the functions below combine. f(Acc, Acc) must not depend on the order. Every thread
/// begins with `init`: identity<Acc>(), or another value that f leaves alone. Copies of elements that several threads
/// held before (R of the tile) are combined like partial results: a sum counts each of them.
TILEWRIGHT_CALLS_ANYTHING
template <class Acc, class T, class Distribution, index_t... Dims, class F>
TILEWRIGHT_HD constexpr auto block_tile_reduce(const static_distributed_tensor<T, Distribution>& tile,
                                               sequence<Dims...> dims, F f, detail::type_identity_t<Acc> init) {
  using reduced = decltype(make_static_tile_distribution(
      make_reduce_tile_distribution_encoding(number<Distribution::encoding>{}, dims)));
  static_distributed_tensor<Acc, reduced> result{};
  set_tile(result, init);
  unroll<Distribution::num_elements>([&](auto d) TILEWRIGHT_INLINE_LAMBDA {
    constexpr index_t r = detail::reduced_registers<Distribution, reduced, Dims...>[d.value];
    result.thread_buffer[r] = f(result.thread_buffer[r], type_convert<Acc>(tile.thread_buffer[d]));
  });
  return result;
}

/// Combines the partial results of the lanes of each wave; all of them then hold the result.
TILEWRIGHT_CALLS_ANYTHING
template <class Acc, class Distribution, class F>
TILEWRIGHT_HD void block_tile_reduce_sync(static_distributed_tensor<Acc, Distribution>& tile, F f) {
  static_assert(sizeof(Acc) == 4, "block_tile_reduce_sync: lanes exchange values of 4 bytes; reduce to float or int");
  constexpr index_t lane = Distribution::ndim_p - 1;
  unroll<Distribution::encoding.r.size()>([&](auto factor) TILEWRIGHT_INLINE_LAMBDA {
    constexpr detail::replicas of = detail::replicas_of(Distribution::encoding, lane, factor.value);
    if constexpr (of.count > 1) {
      unroll<Distribution::num_elements>([&](auto d) TILEWRIGHT_INLINE_LAMBDA {
        tile.thread_buffer[d] = detail::combine_lanes<of.stride, of.count>(tile.thread_buffer[d], f);
      });
    }
  });
}

/// Bytes of LDS that block_tile_reduce_cross_wave_sync needs.
template <class Tile>
inline constexpr index_t block_tile_reduce_lds_bytes =
    Tile::distribution_type::num_threads() * Tile::num_elements * index_t(sizeof(typename Tile::element_type));

/// Combines the partial results of the waves of a block through LDS at `lds`; all of them then hold the result. Call it
/// after block_tile_reduce_sync. Waits once, between writing and reading: nobody may still use this LDS before,
/// and a barrier must come before it is used again.
TILEWRIGHT_CALLS_ANYTHING
template <class Acc, class Distribution, class F>
TILEWRIGHT_HD void block_tile_reduce_cross_wave_sync(static_distributed_tensor<Acc, Distribution>& tile,
                                                     exec::lds_pointer lds, F f, exec::call_site where = {}) {
  const exec::call_scope scope(where);
  if constexpr (Distribution::ndim_p == 2) {
    constexpr index_t n = Distribution::num_elements, lanes = Distribution::encoding.p_length(1), bytes = sizeof(Acc);
    const index_t wave = exec::wave_id(), lane = exec::lane_id();
    const auto place = [&](index_t of_wave, index_t d)
                           TILEWRIGHT_INLINE_LAMBDA { return ((of_wave * n + d) * lanes + lane) * bytes; };
    unroll<n>([&](auto d)
                  TILEWRIGHT_INLINE_LAMBDA { exec::lds_store(lds, place(wave, d.value), tile.thread_buffer[d]); });
    exec::block_sync();
    // The waves that differ from this one only in factors of R, one after the other: all of them add in the same order.
    constexpr index_t waves = Distribution::encoding.p_length(0);
    constexpr auto all = [] {
      index_t count = 1;
      array<index_t, waves> offsets{};
      for (index_t r = 0; r < Distribution::encoding.r.size(); ++r) {
        const detail::replicas of = detail::replicas_of(Distribution::encoding, 0, r);
        for (index_t i = count; i < count * of.count; ++i) offsets[i] = offsets[i % count] + i / count * of.stride;
        count *= of.count;
      }
      struct {
        index_t count;
        array<index_t, waves> offsets;
      } result{count, offsets};
      return result;
    };
    index_t first = wave;
    unroll<Distribution::encoding.r.size()>([&](auto r) TILEWRIGHT_INLINE_LAMBDA {
      constexpr detail::replicas of = detail::replicas_of(Distribution::encoding, 0, r.value);
      first -= modulo(divide(wave, constant(of.stride)), constant(of.count)) * constant(of.stride);
    });
    unroll<n>([&](auto d) TILEWRIGHT_INLINE_LAMBDA {
      Acc result = exec::lds_load<Acc>(lds, place(first, d.value));
      unroll<all().count - 1>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
        result = f(result, exec::lds_load<Acc>(lds, place(first + constant(all().offsets[i.value + 1]), d.value)));
      });
      tile.thread_buffer[d] = result;
    });
  }
}

}  // namespace tilewright
