// SPDX-License-Identifier: MIT
// Repeated asynchronous copies of a tile from global memory to LDS, for loops: lane_copy, whose lanes write anywhere
// (NVIDIA GPUs), and wave_copy, whose waves fill consecutive bytes (AMD GPUs).
//
//   issue(lds_bytes) | [exec::async_end_group() | ] advance(step) | issue(other lds_bytes) | ... | wait, barrier | read
#pragma once

#include <tilewright/tile/copy/async_load.hpp>

namespace tilewright {

namespace detail {

/// What repeated copies keep of a window in global memory: a buffer that advances, and offsets compared with the
/// tensor's bounds once, when they are made. What is inside there must be inside wherever the copy advances to.
template <class Window>
struct repeated_source {
  static constexpr index_t bytes = Window::vector_length * Window::element_bytes;

  exec::walking_buffer buffer;
  array<index_t, Window::num_access> offset;

  template <class Known>
  TILEWRIGHT_HD repeated_source(const Window& window, Known)
      : buffer(window.view.buffer),
        offset(checked_offsets<Known>(window, typename Window::access_sequence{}, typename Window::dim_sequence{})) {}
};

}  // namespace detail

/// Copies of the tile of `Window` to that of `LdsWindow`, made by make_tile_window for the same vectors of the same
/// distribution. On NVIDIA GPUs a copy costs a comparison and the addition of 64-bit addresses.
template <TileWindow Window, TileWindow LdsWindow>
class lane_copy {
  static constexpr bool is_in_global_memory = Window::view_type::address_space == address_space_enum::global;
  static_assert(is_in_global_memory, "lane_copy: the window must be in global memory");
  static constexpr bool is_destination_in_lds = LdsWindow::view_type::address_space == address_space_enum::lds;
  static_assert(is_destination_in_lds, "lane_copy: the destination must be in LDS");
  static constexpr bool have_same_vectors = __is_same(detail::tile_of<LdsWindow>, detail::tile_of<Window>) &&
                                            LdsWindow::vector_length == Window::vector_length;
  static_assert(have_same_vectors, "lane_copy: both windows must move the same vectors of the same distribution");
  static constexpr index_t bytes = detail::repeated_source<Window>::bytes;

  detail::repeated_source<Window> from_;
  LdsWindow to_;

 public:
  static constexpr index_t num_access = Window::num_access;  ///< Copies of a thread for a tile.

  /// Known: in_bounds<dimensions> along which nothing is outside of the tensor.
  template <class Known = in_bounds<>>
  TILEWRIGHT_HD lane_copy(const Window& window, const LdsWindow& to, Known known = {}) : from_(window, known), to_(to) {
    // Else a compiler may compute addresses again in each iteration, where copies are issued under a condition.
    for (index_t b = 0; b < LdsWindow::num_bases; ++b) to_.base[b] = exec::opaque(to_.base[b]);
  }

  /// Moves the source by `by_bytes`, at least 0.
  TILEWRIGHT_HD void advance(index_t by_bytes) { from_.buffer.advance(long_index_t(unsigned(by_bytes))); }

  /// Issues copies First to Last - 1 of num_access, to the buffer `lds_bytes` after the first one. They belong to the
  /// group that exec::async_end_group() commits next. ReadOnce: see exec::async_load_in_group.
  template <index_t First = 0, index_t Last = num_access, bool ReadOnce = false>
  TILEWRIGHT_HD void issue(index_t lds_bytes, exec::call_site where = {}) const {
    const exec::call_scope scope(where);
    static_assert(0 <= First && First <= Last && Last <= num_access,
                  "lane_copy: there are fewer copies; see num_access");
    [&]<index_t... Is>(sequence<Is...>) TILEWRIGHT_INLINE_LAMBDA {
      (exec::async_load_in_group<bytes, ReadOnce>(from_.buffer, from_.offset[First + Is], to_.view.buffer,
                                                  to_.template offset<First + Is>() + lds_bytes),
       ...);
    }(make_sequence<Last - First>{});
  }
};

namespace detail {

/// First byte in LDS of what each instruction of a wave writes: that of instruction 0 of wave 0, and what each bit of
/// the wave's number and each further instruction add to it.
template <index_t NumAccess>
struct wave_addresses {
  bool are_sums = false;
  index_t first = 0;
  array<index_t, 6> of_wave_bit{};
  array<index_t, NumAccess> of_access{};
};

template <tensor_graph LdsGraph, distribution_encoding Encoding, index_t ElementBytes, index_t NumAccess>
constexpr wave_addresses<NumAccess> find_wave_addresses() {
  wave_addresses<NumAccess> result;
  const lds_access_pattern pattern(LdsGraph, Encoding, ElementBytes);
  const bool swizzled = pattern.rule() == lds_access_pattern::addresses_are::xor_of_terms;
  const index_t footprint = swizzled ? pattern.num_lanes() * pattern.bytes_per_lane() : 1;
  const auto address = [&](index_t wave, index_t access) {
    return pattern.first_address(wave, access) / footprint * footprint;
  };
  result.first = address(0, 0);
  for (index_t b = 0; 1 << b < pattern.num_waves(); ++b) result.of_wave_bit[b] = address(1 << b, 0) - result.first;
  for (index_t i = 0; i < NumAccess; ++i) result.of_access[i] = address(0, i) - result.first;
  result.are_sums = pattern.num_access() == NumAccess;
  for (index_t wave = 0; wave < pattern.num_waves(); ++wave) {
    index_t begin = result.first;
    for (index_t b = 0; 1 << b < pattern.num_waves(); ++b) begin += (wave >> b & 1) * result.of_wave_bit[b];
    for (index_t i = 0; i < NumAccess; ++i)
      result.are_sums = result.are_sums && address(wave, i) == begin + result.of_access[i];
  }
  return result;
}

}  // namespace detail

/// Copies of the tile of `Window`, made by make_async_tile_window for the layout LdsGraph. A copy costs one or two
/// scalar instructions besides the load, and no vector arithmetic. exec::async_wait<n>() waits until n of them are in
/// flight.
template <class Window, tensor_graph LdsGraph>
class wave_copy {
  static constexpr bool is_in_global_memory = Window::view_type::address_space == address_space_enum::global;
  static_assert(is_in_global_memory, "wave_copy: the window must be in global memory");
  struct addresses {
    static constexpr auto value = detail::find_wave_addresses<LdsGraph, Window::distribution_type::encoding,
                                                              Window::element_bytes, Window::num_access>();
  };
  static constexpr bool begins_at_constants = addresses::value.are_sums;
  static_assert(begins_at_constants,
                "wave_copy: what a wave writes must begin at the sum of constants for its number and its instruction");
  static constexpr index_t bytes = detail::repeated_source<Window>::bytes;

  detail::repeated_source<Window> from_;
  exec::lds_pointer to_;  // of the wave's first instruction

 public:
  static constexpr index_t num_access = Window::num_access;  ///< Copies of a thread for a tile.

  /// `lds`: first byte of the tile's layout. Known: in_bounds<dimensions> along which nothing is outside of the tensor.
  template <class Known = in_bounds<>>
  TILEWRIGHT_HD wave_copy(const Window& window, exec::lds_pointer lds, Known known = {})
      : from_(window, known), to_(lds + constant(addresses::value.first)) {
    TILEWRIGHT_UNROLL_ALL
    for (index_t& offset : from_.offset) offset = exec::opaque(offset);
    const index_t wave = exec::wave_id();
    unroll<6>([&](auto b) {
      constexpr index_t step = addresses::value.of_wave_bit[b.value];
      if constexpr (step != 0) to_ = to_ + (wave >> b.value & 1) * step;
    });
  }

  /// Moves the source by `by_bytes`, at least 0.
  TILEWRIGHT_HD void advance(index_t by_bytes) {
    from_.buffer.advance(long_index_t(unsigned(by_bytes)));
    to_ = exec::opaque(to_);  // else a loop would keep the addresses of all its copies in scalar registers
  }

  /// Issues copies First to Last - 1 of num_access, to the buffer `lds_bytes` after the first one.
  template <index_t First = 0, index_t Last = num_access>
  TILEWRIGHT_HD void issue(index_t lds_bytes, exec::call_site where = {}) const {
    const exec::call_scope scope(where);
    static_assert(0 <= First && First <= Last && Last <= num_access,
                  "wave_copy: there are fewer copies; see num_access");
    [&]<index_t... Is>(sequence<Is...>) TILEWRIGHT_INLINE_LAMBDA {
      (exec::async_load_wave_to_lds<bytes>(from_.buffer, from_.offset[First + Is],
                                           to_ + (lds_bytes + constant(addresses::value.of_access[First + Is]))),
       ...);
    }(make_sequence<Last - First>{});
  }
};

}  // namespace tilewright
