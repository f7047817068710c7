// SPDX-License-Identifier: MIT
// Repeated asynchronous copies of a tile to LDS: each lane chooses its destination (lane_copy, NVIDIA GPUs), or a wave
// fills consecutive places (wave_copy, AMD GPUs).
#pragma once

#include <tilewright/tile/copy/async_load.hpp>

namespace tilewright {

/// Copies of the tile of `Window` to that of `LdsWindow`, as many times as wanted. Checks against the tensor's bounds
/// are made once, in the constructor, so what is inside there must be inside wherever the copy moves. On NVIDIA GPUs a
/// copy costs a comparison and the addition of 64-bit addresses.
template <TileWindow Window, TileWindow LdsWindow>
class lane_copy {
  static constexpr bool is_in_global_memory = Window::view_type::address_space == address_space_enum::global;
  static_assert(is_in_global_memory, "lane_copy: the window must be in global memory");
  static constexpr bool is_destination_in_lds = LdsWindow::view_type::address_space == address_space_enum::lds;
  static_assert(is_destination_in_lds, "lane_copy: the destination must be in LDS");
  static constexpr bool have_same_vectors = __is_same(detail::tile_of<LdsWindow>, detail::tile_of<Window>) &&
                                            LdsWindow::vector_length == Window::vector_length;
  static_assert(have_same_vectors, "lane_copy: both windows must move the same vectors of the same distribution");
  static constexpr index_t bytes = Window::vector_length * Window::element_bytes;

  exec::walking_buffer from_;
  array<index_t, Window::num_access> offset_;
  LdsWindow to_;

 public:
  static constexpr index_t num_access = Window::num_access;

  template <class Known = in_bounds<>>
  TILEWRIGHT_HD lane_copy(const Window& window, const LdsWindow& to, Known = {})
      : from_(window.view.buffer),
        offset_(detail::checked_offsets<Known>(window, typename Window::access_sequence{},
                                               typename Window::dim_sequence{})),
        to_(to) {
    // Else a compiler may compute places again in each turn of a loop, where copies begin under a condition.
    for (index_t b = 0; b < LdsWindow::num_bases; ++b) to_.base[b] = exec::opaque(to_.base[b]);
  }

  /// Moves on in memory.
  TILEWRIGHT_HD void advance(index_t by_bytes) { from_.advance(long_index_t(unsigned(by_bytes))); }

  /// Starts copies First to Last - 1 of num_access, to the buffer `lds_bytes` after the first one.
  /// They belong to the group that exec::async_end_group() ends next. ReadOnce: see exec::async_load_in_group.
  template <index_t First = 0, index_t Last = num_access, bool ReadOnce = false>
  TILEWRIGHT_HD void begin(index_t lds_bytes, exec::call_site where = {}) const {
    const exec::call_scope scope(where);
    static_assert(0 <= First && First <= Last && Last <= num_access,
                  "lane_copy: there are fewer copies; see num_access");
    [&]<index_t... Is>(sequence<Is...>) TILEWRIGHT_INLINE_LAMBDA {
      [[maybe_unused]] const auto target = to_.offsets(sequence<(First + Is)...>{});
      (exec::async_load_in_group<bytes, ReadOnce>(from_, offset_[First + Is], to_.view.buffer,
                                                  target[First + Is] + lds_bytes),
       ...);
    }(make_sequence<Last - First>{});
  }
};

namespace detail {

/// Where the bytes of a wave's instruction begin in LDS: those of instruction 0 of wave 0, and for each bit of the
/// wave's number and each further instruction a number of bytes more.
template <index_t NumAccess>
struct wave_places {
  bool are_sums = false;
  index_t first = 0;
  array<index_t, 6> of_wave_bit{};
  array<index_t, NumAccess> of_access{};
};

template <tensor_graph LdsGraph, distribution_encoding Encoding, index_t ElementBytes, index_t NumAccess>
constexpr wave_places<NumAccess> find_wave_places() {
  wave_places<NumAccess> places;
  const lds_access_walk walk(LdsGraph, Encoding, ElementBytes);
  const bool swizzled = walk.rule() == lds_access_walk::addresses_are::xor_of_parts;
  const index_t footprint = swizzled ? walk.num_lanes() * walk.bytes_per_lane() : 1;
  const auto place = [&](index_t wave, index_t access) {
    return walk.first_address(wave, access) / footprint * footprint;
  };
  places.first = place(0, 0);
  for (index_t b = 0; 1 << b < walk.num_waves(); ++b) places.of_wave_bit[b] = place(1 << b, 0) - places.first;
  for (index_t i = 0; i < NumAccess; ++i) places.of_access[i] = place(0, i) - places.first;
  places.are_sums = walk.num_access() == NumAccess;
  for (index_t wave = 0; wave < walk.num_waves(); ++wave) {
    index_t begin = places.first;
    for (index_t b = 0; 1 << b < walk.num_waves(); ++b) begin += (wave >> b & 1) * places.of_wave_bit[b];
    for (index_t i = 0; i < NumAccess; ++i)
      places.are_sums = places.are_sums && place(wave, i) == begin + places.of_access[i];
  }
  return places;
}

}  // namespace detail

/// Copies of the tile of `Window`, made by make_async_tile_window for the layout LdsGraph, as many times as wanted.
/// Checks against the tensor's bounds are made once, in the constructor, so what is inside there must be inside
/// wherever the copy moves. A copy costs one or two scalar instructions besides the load, and no vector arithmetic.
template <class Window, tensor_graph LdsGraph>
class wave_copy {
  static constexpr bool is_in_global_memory = Window::view_type::address_space == address_space_enum::global;
  static_assert(is_in_global_memory, "wave_copy: the window must be in global memory");
  static constexpr index_t bytes = Window::vector_length * Window::element_bytes;
  struct places {
    static constexpr auto value = detail::find_wave_places<LdsGraph, Window::distribution_type::encoding,
                                                           Window::element_bytes, Window::num_access>();
  };
  static constexpr bool begins_at_constants = places::value.are_sums;
  static_assert(begins_at_constants,
                "wave_copy: what a wave writes must begin at the sum of constants for its number and its instruction");

  exec::walking_buffer from_;
  array<index_t, Window::num_access> offset_;
  exec::lds_pointer to_;  // of the wave's first instruction

 public:
  static constexpr index_t num_access = Window::num_access;

  /// `lds`: where the tile's layout begins.
  template <class Known = in_bounds<>>
  TILEWRIGHT_HD wave_copy(const Window& window, exec::lds_pointer lds, Known = {})
      : from_(window.view.buffer),
        offset_(detail::checked_offsets<Known>(window, typename Window::access_sequence{},
                                               typename Window::dim_sequence{})),
        to_(lds + constant(places::value.first)) {
    TILEWRIGHT_UNROLL_ALL
    for (index_t& offset : offset_) offset = exec::opaque(offset);
    const index_t wave = exec::wave_id();
    unroll<6>([&](auto b) {
      constexpr index_t step = places::value.of_wave_bit[b.value];
      if constexpr (step != 0) to_ = to_ + (wave >> b.value & 1) * step;
    });
  }

  /// Moves on in memory.
  TILEWRIGHT_HD void advance(index_t by_bytes) {
    from_.advance(long_index_t(unsigned(by_bytes)));
    to_ = exec::opaque(to_);  // else a loop would keep the places of all its copies in scalar registers
  }

  /// Starts copies First to Last - 1 of num_access, to the buffer `lds_bytes` after the first one.
  template <index_t First = 0, index_t Last = num_access>
  TILEWRIGHT_HD void begin(index_t lds_bytes, exec::call_site where = {}) const {
    const exec::call_scope scope(where);
    static_assert(0 <= First && First <= Last && Last <= num_access,
                  "wave_copy: there are fewer copies; see num_access");
    [&]<index_t... Is>(sequence<Is...>) TILEWRIGHT_INLINE_LAMBDA {
      (exec::async_load_wave_to_lds<bytes>(from_, offset_[First + Is],
                                           to_ + (lds_bytes + constant(places::value.of_access[First + Is]))),
       ...);
    }(make_sequence<Last - First>{});
  }
};

}  // namespace tilewright
