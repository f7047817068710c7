// SPDX-License-Identifier: MIT
// Inclusive scans (prefix sums, running maxima): across the lanes of a wave, and of a tile along one of its dimensions.
#pragma once

#include <tilewright/tile/registers/reduce_tile.hpp>

namespace tilewright {

namespace detail {

/// Inclusive scan across Count lanes that are Stride apart; `digit`: the calling lane's number among them. Each step
/// combines with the lane 1, 2, 4 ... further down.
TILEWRIGHT_CALLS_ANYTHING
template <index_t Stride, index_t Count, class T, class F>
TILEWRIGHT_HD T scan_lanes(T value, index_t digit, F f) {
  const index_t lane = exec::lane_id();
  unroll<Count == 1 ? 0 : log2_floor(Count - 1) + 1>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
    const T earlier = exec::shuffle(value, lane - (Stride << i.value));
    value = digit >= 1 << i.value ? combine(f, earlier, value) : value;
  });
  return value;
}

/// Who numbers the elements along a factor of a dimension: registers, lanes or waves.
enum class factor_owner : signed char { registers, lanes, waves };
struct owned_factor {
  factor_owner owner = factor_owner::registers;
  index_t stride = 1, length = 1;  ///< In registers, lanes or waves.
};
TILEWRIGHT_HD constexpr owned_factor find_owner(const distribution_encoding& e, rh_id id) {
  for (index_t y = 0; y < e.ndim_y(); ++y) {
    if (e.y[y] == id) return {factor_owner::registers, e.y_stride(y), e.length(id)};
  }
  for (index_t p = 0; p < e.ndim_p(); ++p) {
    index_t stride = 1;
    for (index_t j = e.p[p].size(); j-- > 0; stride *= e.length(e.p[p][j])) {
      if (e.p[p][j] == id)
        return {p + 1 == e.ndim_p() ? factor_owner::lanes : factor_owner::waves, stride, e.length(id)};
    }
  }
  return {};
}
template <class Distribution, index_t Dim, index_t Minor>
inline constexpr owned_factor owner_v =
    find_owner(Distribution::encoding, {static_cast<signed char>(Dim + 1), static_cast<signed char>(Minor)});

/// Register d at 0 along the registers' factors of Dim from number `first` on: the first one of a run of elements.
TILEWRIGHT_HD constexpr index_t first_of_run(const distribution_encoding& e, index_t dim, index_t first, index_t d) {
  for (index_t y = 0; y < e.ndim_y(); ++y) {
    if (e.y[y].major == dim + 1 && e.y[y].minor >= first) d -= d / e.y_stride(y) % e.y_length(y) * e.y_stride(y);
  }
  return d;
}
template <class Distribution, index_t Dim, index_t First, index_t Register>
inline constexpr index_t first_of_run_v = first_of_run(Distribution::encoding, Dim, First, Register);

// One level of a scan. The tile is scanned within runs: the elements along the factors of Dim after number Minor.
// `total` has, at the first register of each run, what the run combines to, in all threads that share it. Afterwards
// runs are longer by factor Minor.

/// A level whose factor belongs to registers.
TILEWRIGHT_CALLS_ANYTHING
template <index_t Dim, index_t Minor, class T, class Distribution, class F>
TILEWRIGHT_HD void scan_registers(static_distributed_tensor<T, Distribution>& tile,
                                  array<T, Distribution::num_elements>& total, F f) {
  constexpr index_t n = Distribution::num_elements;
  array<T, n> before;                               // what the runs before this one combine to
  unroll<n>([&](auto d) TILEWRIGHT_INLINE_LAMBDA {  // in order, so that the run before is complete
    constexpr index_t run = first_of_run_v<Distribution, Dim, Minor + 1, d.value>;
    constexpr index_t first = first_of_run_v<Distribution, Dim, Minor, d.value>;
    if constexpr (run == d.value && first != d.value) {
      before[d] = total[first];
      total[first] = combine(f, total[first], total[d]);
    }
  });
  unroll<n>([&](auto d) TILEWRIGHT_INLINE_LAMBDA {
    constexpr index_t run = first_of_run_v<Distribution, Dim, Minor + 1, d.value>;
    if constexpr (run != first_of_run_v<Distribution, Dim, Minor, d.value>)
      tile.thread_buffer[d] = combine(f, before[run], tile.thread_buffer[d]);
  });
}

/// A level whose factor belongs to lanes or waves.
TILEWRIGHT_CALLS_ANYTHING
template <index_t Dim, index_t Minor, class T, class Distribution, class F>
TILEWRIGHT_HD void scan_threads(static_distributed_tensor<T, Distribution>& tile,
                                array<T, Distribution::num_elements>& total, exec::lds_pointer lds, F f) {
  constexpr owned_factor of = owner_v<Distribution, Dim, Minor>;
  constexpr index_t n = Distribution::num_elements;
  array<T, n> before;
  const index_t number = of.owner == factor_owner::lanes ? exec::lane_id() : exec::wave_id();
  const index_t digit = modulo(divide(number, of.stride), of.length);
  if constexpr (of.owner == factor_owner::lanes) {
    unroll<n>([&](auto d) TILEWRIGHT_INLINE_LAMBDA {
      if constexpr (first_of_run_v<Distribution, Dim, Minor + 1, d.value> == d.value) {
        const T scanned = scan_lanes<of.stride, of.length>(total[d], digit, f);
        before[d] = exec::shuffle(scanned, number - of.stride);
        total[d] = exec::shuffle(scanned, number + (of.length - 1 - digit) * of.stride);
      }
    });
  } else {
    using slots = wave_slots<reduced_distribution<Distribution, Dim>, n>;
    if (slots::is_first_lane()) {
      unroll<n>([&](auto d) TILEWRIGHT_INLINE_LAMBDA {
        if constexpr (first_of_run_v<Distribution, Dim, Minor + 1, d.value> == d.value)
          exec::lds_store(lds, slots::offset(number) + d.value * slots::value_bytes, total[d]);
      });
    }
    exec::block_sync();
    unroll<n>([&](auto d) TILEWRIGHT_INLINE_LAMBDA {
      if constexpr (first_of_run_v<Distribution, Dim, Minor + 1, d.value> == d.value) {
        T sum = exec::lds_load<T>(lds, slots::offset(number - digit * of.stride) + d.value * slots::value_bytes);
        before[d] = sum;
        for (index_t w = 1; w < of.length; ++w) {
          sum = combine(
              f, sum,
              exec::lds_load<T>(lds, slots::offset(number + (w - digit) * of.stride) + d.value * slots::value_bytes));
          before[d] = w < digit ? sum : before[d];
        }
        total[d] = sum;
      }
    });
  }
  unroll<n>([&](auto d) TILEWRIGHT_INLINE_LAMBDA {
    constexpr index_t run = first_of_run_v<Distribution, Dim, Minor + 1, d.value>;
    const T after = combine(f, before[run], tile.thread_buffer[d]);
    tile.thread_buffer[d] = digit > 0 ? after : tile.thread_buffer[d];
  });
}

/// Whether each factor of Dim that belongs to waves is more significant than all that belong to lanes, and is one.
TILEWRIGHT_HD constexpr bool scans_lanes_before_waves(const distribution_encoding& e, index_t dim) {
  index_t waves = 0;
  for (signed char minor = 0; minor < e.h[dim].size(); ++minor) {
    const factor_owner owner = find_owner(e, {static_cast<signed char>(dim + 1), minor}).owner;
    waves += owner == factor_owner::waves;
    for (signed char more = 0; owner == factor_owner::waves && more < minor; ++more) {
      if (find_owner(e, {static_cast<signed char>(dim + 1), more}).owner == factor_owner::lanes) return false;
    }
  }
  return waves <= 1;
}

TILEWRIGHT_CALLS_ANYTHING
template <index_t Dim, class T, class Distribution, class F>
TILEWRIGHT_HD auto scan_tile(static_distributed_tensor<T, Distribution>& tile, F f, exec::lds_pointer lds) {
  constexpr bool is_four_bytes = sizeof(T) == 4;
  static_assert(is_four_bytes, "scan: lanes exchange values of 4 bytes; cast_tile the tile to float or int first");
  constexpr bool is_possible = scans_lanes_before_waves(Distribution::encoding, Dim);
  static_assert(is_possible,
                "scan: along the dimension, one factor at most may belong to waves, and none of lanes may be more "
                "significant; shuffle_tile gives the tile a distribution such as make_row_distribution's");
  static_distributed_tensor<T, reduced_distribution<Distribution, Dim>> totals;
  if constexpr (is_four_bytes && is_possible) {
    array<T, Distribution::num_elements> total = tile.thread_buffer;
    constexpr index_t factors = Distribution::encoding.h[Dim].size();
    unroll<factors>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
      constexpr index_t minor = factors - 1 - i.value;
      constexpr owned_factor of = owner_v<Distribution, Dim, minor>;
      if constexpr (of.length > 1 && of.owner == factor_owner::registers) scan_registers<Dim, minor>(tile, total, f);
      if constexpr (of.length > 1 && of.owner != factor_owner::registers) scan_threads<Dim, minor>(tile, total, lds, f);
    });
    unroll<Distribution::num_elements>([&](auto d) TILEWRIGHT_INLINE_LAMBDA {
      if constexpr (first_of_run_v<Distribution, Dim, 0, d.value> == d.value)
        totals.thread_buffer[register_without<Distribution, Dim>(d.value)] = total[d];
    });
  }
  return totals;
}

}  // namespace detail

/// Inclusive scan of `value` over each group of Lanes consecutive lanes, by all lanes of the wave: lane i of a group
/// gets f(...f(value of lane 0, value of lane 1)..., value of lane i). Values have 4 bytes; f is plus, max, min or an
/// associative function of yours, whose first argument comes before the second.
template <index_t Lanes, class T, class F>
TILEWRIGHT_HD T wave_scan(T value, F f) {
  static_assert(Lanes > 0 && Lanes <= 64, "wave_scan: a wave has 32 or 64 lanes");
  return detail::scan_lanes<1, Lanes>(value, modulo(exec::lane_id(), Lanes), f);
}

/// Bytes of LDS that scan<Dim>(tile, f, ..., lds) needs; 0 if waves share no row along Dim.
template <class Tile, index_t Dim>
inline constexpr index_t scan_lds_bytes = [] {
  using distribution = typename detail::remove_const_t<Tile>::distribution_type;
  if constexpr (detail::reduction_crosses_waves<distribution, Dim>) {
    return detail::wave_slots<reduced_distribution<distribution, Dim>, distribution::num_elements>::bytes;
  } else {
    return 0;
  }
}();

/// Inclusive scan of a tile of float, int or unsigned along dimension Dim: each element becomes f of it and of all
/// elements before it (plus: prefix sums). Returns a tile without Dim that has f of all of them, in all threads that
/// share them. f is plus, max, min or an associative function of yours, whose first argument comes before the second.
/// Every thread of the block calls it. Where waves share the elements, the overload with scan_lds_bytes<Tile, Dim>
/// bytes of LDS is needed. It waits once, between writing and reading LDS: no thread may still use this LDS before, and
/// a barrier must come before it is used again.
TILEWRIGHT_CALLS_ANYTHING
template <index_t Dim, class T, class Distribution, class F>
TILEWRIGHT_HD auto scan(static_distributed_tensor<T, Distribution>& tile, F f, exec::call_site where = {}) {
  const exec::call_scope scope(where);
  constexpr bool stays_in_wave = !detail::reduction_crosses_waves<Distribution, Dim>;
  static_assert(stays_in_wave,
                "scan: waves share the elements that are combined; pass scan_lds_bytes<Tile, dimension> bytes of LDS "
                "as the last argument");
  return detail::scan_tile<Dim>(tile, f, exec::lds_pointer{});
}
TILEWRIGHT_CALLS_ANYTHING
template <index_t Dim, class T, class Distribution, class F>
TILEWRIGHT_HD auto scan(static_distributed_tensor<T, Distribution>& tile, F f, exec::lds_pointer lds,
                        exec::call_site where = {}) {
  const exec::call_scope scope(where);
  return detail::scan_tile<Dim>(tile, f, lds);
}

namespace detail {
template <index_t Dim, class T, class Distribution, class F, class Carry, class Totals>
TILEWRIGHT_HD void add_carry(static_distributed_tensor<T, Distribution>& tile, F f, Carry& carry,
                             const Totals& totals) {
  constexpr bool fits = __is_same(Carry, Totals);
  static_assert(fits, "scan: the carry must be a tile of reduced_distribution<distribution of the tile, dimension>");
  if constexpr (fits) {
    unroll<Distribution::num_elements>([&](auto d) TILEWRIGHT_INLINE_LAMBDA {
      tile.thread_buffer[d] =
          combine(f, carry.thread_buffer[register_without<Distribution, Dim>(d.value)], tile.thread_buffer[d]);
    });
    unroll<Carry::num_elements>([&](auto d) TILEWRIGHT_INLINE_LAMBDA {
      carry.thread_buffer[d] = combine(f, carry.thread_buffer[d], totals.thread_buffer[d]);
    });
  }
}
}  // namespace detail

/// A scan that continues those of the tiles before: `carry` has what they combine to (zeros before the first one, for
/// plus), and afterwards what they and this tile do.
TILEWRIGHT_CALLS_ANYTHING
template <index_t Dim, class T, class Distribution, class F, class Carry>
TILEWRIGHT_HD void scan(static_distributed_tensor<T, Distribution>& tile, F f,
                        static_distributed_tensor<T, Carry>& carry, exec::call_site where = {}) {
  detail::add_carry<Dim>(tile, f, carry, scan<Dim>(tile, f, where));
}
TILEWRIGHT_CALLS_ANYTHING
template <index_t Dim, class T, class Distribution, class F, class Carry>
TILEWRIGHT_HD void scan(static_distributed_tensor<T, Distribution>& tile, F f,
                        static_distributed_tensor<T, Carry>& carry, exec::lds_pointer lds, exec::call_site where = {}) {
  detail::add_carry<Dim>(tile, f, carry, scan<Dim>(tile, f, lds, where));
}

}  // namespace tilewright
