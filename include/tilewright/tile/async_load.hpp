// SPDX-License-Identifier: MIT
// Asynchronous copies of a tile from global memory to LDS, without registers where the target can.
#pragma once

#include <tilewright/lds/lds_access_walk.hpp>
#include <tilewright/tile/load_store.hpp>

namespace tilewright {

namespace detail {

/// Whether every instruction writes the lanes of its wave to consecutive places.
TILEWRIGHT_HD constexpr bool fills_lds_in_lane_order(const tensor_graph& layout, const distribution_encoding& e,
                                                     index_t element_bytes) {
  const lds_access_walk walk(layout, e, element_bytes);
  const bool all_alike = walk.rule() == lds_access_walk::addresses_are::sum_of_parts;
  for (index_t wave = 0; wave < (all_alike ? 1 : walk.num_waves()); ++wave) {
    for (index_t access = 0; access < (all_alike ? 1 : walk.num_access()); ++access) {
      const lds_addresses address = walk.addresses(wave, access);
      for (index_t lane = 0; lane < walk.num_lanes(); ++lane) {
        if (address[lane] != address[0] + lane * walk.bytes_per_lane()) return false;
      }
    }
  }
  return true;
}

/// On AMD GPUs that bypass registers, the window in LDS must be filled lane after lane.
template <class LdsWindow>
TILEWRIGHT_HD constexpr void require_lane_order() {
#if TILEWRIGHT_AMDGCN_PASS
  constexpr index_t bytes = LdsWindow::vector_length * LdsWindow::element_bytes;
  if constexpr (bytes >= 4 && arch::current::value.supports_direct_to_lds(bytes)) {
    constexpr bool is_in_lane_order =
        fills_lds_in_lane_order(LdsWindow::graph, LdsWindow::distribution_type::encoding, LdsWindow::element_bytes);
    static_assert(is_in_lane_order,
                  "async_load_tile: this target fills LDS lane after lane, and the layout or the distribution has "
                  "another order; make both "
                  "windows with make_async_tile_window");
  }
#endif
}

template <class LdsWindow, class Window, class Known, index_t... Is>
TILEWRIGHT_HD void async_load_each(const LdsWindow& to, const Window& from, Known, index_t lds_bytes,
                                   sequence<Is...> accesses) {
  const auto source = checked_offsets<Known>(from, accesses, typename Window::dim_sequence{});
  const auto target = to.offsets(accesses);
  (exec::async_load_to_lds<Window::vector_length * Window::element_bytes>(from.view.buffer, source[Is], to.view.buffer,
                                                                          target[Is] + lds_bytes),
   ...);
}

}  // namespace detail

/// Begins to copy a window of global memory into a window in LDS of the same distribution; zeros for elements outside
/// of the tensor. async_wait() waits for it, and other waves see it after a barrier. `lds_bytes` moves the destination:
/// another buffer of the same layout. Targets without such copies, or without copies of this vector's size, load and
/// store (check_direct_to_lds tells). Kernels that copy again and again take lane_copy or wave_copy,
/// which check bounds once.
template <TileWindow LdsWindow, TileWindow Window, class Known = known_inside<>>
TILEWRIGHT_HD void async_load_tile(const LdsWindow& lds_window, const Window& window, Known known = {},
                                   index_t lds_bytes = 0, exec::call_site where = {}) {
  const exec::call_scope scope(where);
  constexpr bool is_destination_in_lds = LdsWindow::view_type::address_space == address_space_enum::lds;
  static_assert(is_destination_in_lds, "async_load_tile: the first window must be in LDS");
  constexpr bool is_source_in_global_memory = Window::view_type::address_space == address_space_enum::global;
  static_assert(is_source_in_global_memory, "async_load_tile: the second window must be in global memory");
  constexpr bool are_rows_near = !Window::accesses::plan.is_far;
  static_assert(
      are_rows_near,
      "async_load_tile: copies without registers reach rows within 2^31 bytes only; promise near_rows{} to the "
      "window, or use load_tile and store_tile");
  constexpr bool is_destination_writable = !LdsWindow::view_type::is_read_only;
  static_assert(is_destination_writable, "async_load_tile: the view of LDS is of const elements");
  constexpr bool have_same_tile = __is_same(detail::tile_of<LdsWindow>, detail::tile_of<Window>);
  static_assert(have_same_tile,
                "async_load_tile: the windows must have the same element type and the same distribution");
  constexpr bool have_same_vectors =
      LdsWindow::vector_length == Window::vector_length && LdsWindow::vector_dim_y == Window::vector_dim_y;
  static_assert(
      have_same_vectors,
      "async_load_tile: one window allows wider vectors than the other; give both layouts the same contiguous runs");
  constexpr bool have_same_lanes = LdsWindow::accesses::plan.permutation == Window::accesses::plan.permutation;
  static_assert(have_same_lanes, "async_load_tile: make both windows with make_async_tile_window, for the same layout");
  if constexpr (!LdsWindow::accesses::is_permuted) detail::require_lane_order<LdsWindow>();
  detail::async_load_each(lds_window, window, known, lds_bytes, typename Window::access_sequence{});
}

/// Waits until at most Outstanding of the thread's latest copies are not complete:
/// a tile is Window::num_access of them. All when 0.
template <index_t Outstanding = 0>
TILEWRIGHT_HD void async_wait(exec::call_site where = {}) {
  const exec::call_scope scope(where);
  exec::async_wait<Outstanding>();
}

}  // namespace tilewright
