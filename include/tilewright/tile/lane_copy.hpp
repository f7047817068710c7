// SPDX-License-Identifier: MIT
// Repeated asynchronous copies of a tile to LDS where each lane chooses its destination (NVIDIA GPUs).
#pragma once

#include <tilewright/tile/async_load.hpp>

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

  template <class Known = known_inside<>>
  TILEWRIGHT_HD lane_copy(const Window& window, const LdsWindow& to, Known = {})
      : from_(window.view.buffer),
        offset_(detail::checked_offsets<Known>(window, typename Window::access_sequence{},
                                               typename Window::dim_sequence{})),
        to_(to) {
    // Else a compiler may compute places again in each turn of a loop, where copies begin under a condition.
    for (index_t b = 0; b < LdsWindow::num_bases; ++b) to_.base[b] = exec::forget_origin(to_.base[b]);
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

}  // namespace tilewright
