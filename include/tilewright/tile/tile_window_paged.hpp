// SPDX-License-Identifier: MIT
// Paged tile windows: rows of a sequence whose pages are anywhere in a pool, such as a key-value cache.
#pragma once

#include <tilewright/tile/tile_scatter_gather.hpp>

namespace tilewright {

namespace detail {

/// Rows of the pool for the thread's rows of the window.
template <class Window, class RowsPerPage>
TILEWRIGHT_HD typename Window::page_index rows_of_pages(const page_table<RowsPerPage>& table, index_t own_row,
                                                        index_t first_row) {
  const unsigned per_page = unsigned(index_t(table.rows_per_page)), num_rows = unsigned(max(table.num_rows, 0));
  const exec::global_buffer buffer =
      exec::make_global_buffer(table.pages, (long_index_t(num_rows) + per_page - 1) / per_page * 4);
  typename Window::page_index result{};
  unroll<Window::num_pages>([&](auto k) {
    const unsigned row =
        unsigned(first_row + own_row + constant(gathered_positions_v<typename Window::accesses>.x[k.value]));
    const bool exists = row < num_rows;
    const index_t page =
        exec::buffer_load<index_t>(buffer, exists ? index_t(row / per_page * 4) : exec::out_of_bounds_offset);
    result[k] = exists && page >= 0 ? index_t(unsigned(page) * per_page + row % per_page) : -1;
  });
  return result;
}

}  // namespace detail

/// A window on a sequence of rows whose pages are anywhere in a pool. The view is the whole pool, (pages * rows per
/// page, ...); along dimension Paged, origin and moves count rows of the sequence. near_rows{} promises that the pool
/// has less than 2^31 bytes.
template <class View, class... Lengths, TileDistribution Distribution, class RowsPerPage, index_t Paged,
          detail::RowsInReach Rows = detail::any_rows>
TILEWRIGHT_HD auto make_paged_tile_window(const View& view, const tuple<Lengths...>&,
                                          const multi_index<sizeof...(Lengths)>& origin, Distribution distribution,
                                          const page_table<RowsPerPage>& table, number<Paged>, Rows = {}) {
  constexpr bool in_memory = View::address_space == address_space_enum::global;
  static_assert(in_memory, "make_paged_tile_window: the pool must be in global memory");
  constexpr bool whole_pages = [] {
    if constexpr (detail::is_number_v<RowsPerPage>) return RowsPerPage::value > 0;
    return true;
  }();
  static_assert(whole_pages, "make_paged_tile_window: a page must have at least one row");
  constexpr bool exists = 0 <= Paged && Paged < index_t(sizeof...(Lengths));
  static_assert(exists, "make_paged_tile_window: the view has no such dimension");
  exec::expect(index_t(table.rows_per_page) > 0, "make_paged_tile_window: a page must have at least one row");
  if constexpr (exists && in_memory && whole_pages) {
    constexpr index_t rows_per_page = detail::static_value_v<RowsPerPage>;
    using window_type = detail::gather_window_t<View, Distribution, Paged, __is_same(Rows, near_rows), rows_per_page>;
    static_assert(window_type::ndim == index_t(sizeof...(Lengths)),
                  "make_paged_tile_window: one length is needed for each dimension of the view");
    if constexpr (!detail::are_lengths_of_tile_v<Distribution, Lengths...>)
      detail::require_lengths_of_tile<Distribution, Lengths...>();
    const auto own = Distribution::calculate_index(get_partition_index<Distribution>());
    const auto rows = detail::rows_of_pages<window_type>(table, own[Paged], origin[Paged]);
    return detail::make_grouped_window<window_type>(view, origin, distribution,
                                                    {rows, {table.pages, table.num_rows, {table.rows_per_page}}});
  }
}

/// Moves the window by a number of elements along each dimension; along the paged one, the table is read again.
template <class View, class Distribution, address_plan Plan>
  requires(Plan.rows_per_page != 0)
TILEWRIGHT_HD void move_tile_window(tile_window<View, Distribution, Plan>& window,
                                    const multi_index<View::descriptor_type::ndim>& step) {
  using window_type = tile_window<View, Distribution, Plan>;
  constexpr index_t paged = Plan.gathered;
  unroll<window_type::ndim>([&](auto d) { window.origin[d] += step[d]; });
#if TILEWRIGHT_CPU_PASS
  detail::expect_allowed_origin(window);
#endif
  detail::move_addresses(window, step);
  if (step[paged] == 0) return;
  update_page_idx(window, detail::rows_of_pages<window_type>(window.indices.table, window.thread_index[0][paged],
                                                             window.origin[paged]));
}

}  // namespace tilewright
