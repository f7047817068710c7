// SPDX-License-Identifier: MIT
// Windows on a sequence of rows whose pages lie anywhere in a pool: the cache of an attention kernel, for instance.
#pragma once

#include <tilewright/tile/tile_scatter_gather.hpp>

namespace tilewright {

/// Which pages of a pool hold a sequence: row r is row r % rows_per_page of page pages[r / rows_per_page]. The table
/// lies in global memory. A negative entry is a page that is not there: its rows read as zeros and are not written, as
/// those from num_rows on.
template <class RowsPerPage>
struct page_table {
  const index_t* pages;
  index_t num_rows;
  RowsPerPage rows_per_page;  // number<N>{}, or index_t
};
template <class RowsPerPage>
page_table(const index_t*, index_t, RowsPerPage) -> page_table<RowsPerPage>;

/// Made by make_paged_tile_window: a window of rows that a table names, which knows the table.
template <class Gather, class RowsPerPage>
struct paged_tile_window : Gather {
  page_table<RowsPerPage> table;
  index_t first_row;  // of the window in the sequence

  TILEWRIGHT_HD constexpr multi_index<Gather::ndim> get_window_origin() const {
    multi_index<Gather::ndim> result = this->origin;
    result[Gather::gathered] = first_row;
    return result;
  }
};

namespace detail {

/// Rows of the pool for the thread's rows of the window.
template <class Gather, class RowsPerPage>
TILEWRIGHT_HD typename Gather::page_index rows_of_pages(const page_table<RowsPerPage>& table, index_t own_row,
                                                        index_t first_row) {
  const unsigned per_page = unsigned(index_t(table.rows_per_page)), num_rows = unsigned(max(table.num_rows, 0));
  const exec::global_buffer buffer =
      exec::make_global_buffer(table.pages, (long_index_t(num_rows) + per_page - 1) / per_page * 4);
  typename Gather::page_index result{};
  unroll<Gather::num_pages>([&](auto k) TILEWRIGHT_INLINE_LAMBDA {
    const unsigned row = unsigned(first_row + own_row + constant(Gather::accesses::page.x[k.value]));
    const bool exists = row < num_rows;
    const index_t page =
        exec::buffer_load<index_t>(buffer, exists ? index_t(row / per_page * 4) : exec::out_of_bounds_offset);
    result[k] = exists && page >= 0 ? index_t(unsigned(page) * per_page + row % per_page) : -1;
  });
  return result;
}

template <bool IsPromisedNear, class View, class... Lengths, class Distribution, class RowsPerPage, index_t Paged>
TILEWRIGHT_HD auto make_paged_window(const View& view, const tuple<Lengths...>& lengths,
                                     const multi_index<sizeof...(Lengths)>& origin, Distribution distribution,
                                     const page_table<RowsPerPage>& table, number<Paged> dim) {
  constexpr bool in_memory = View::address_space == address_space_enum::global;
  static_assert(in_memory, "make_paged_tile_window: the pool must be in global memory");
  constexpr bool whole_pages = [] {
    if constexpr (is_number_v<RowsPerPage>) return RowsPerPage::value > 0;
    return true;
  }();
  static_assert(whole_pages, "make_paged_tile_window: a page must have at least one row");
  constexpr bool exists = 0 <= Paged && Paged < index_t(sizeof...(Lengths));
  static_assert(exists, "make_paged_tile_window: the view has no such dimension");
  exec::expect(index_t(table.rows_per_page) > 0, "make_paged_tile_window: a page must have at least one row");
  if constexpr (exists && in_memory && whole_pages) {
    using gather = gather_window_t<View, Distribution, Paged, IsPromisedNear>;
    const auto own = Distribution::calculate_index(get_partition_index<Distribution>());
    const typename gather::page_index rows = rows_of_pages<gather>(table, own[Paged], origin[Paged]);
    return paged_tile_window<gather, RowsPerPage>{
        make_gather_window<IsPromisedNear>(view, lengths, origin, distribution, rows, dim), table, origin[Paged]};
  }
}

}  // namespace detail

/// A window on a sequence of rows whose pages lie anywhere in a pool. The view is the whole pool, (pages * rows per
/// page, ...); along dimension Paged, origin and moves count rows of the sequence.
template <class View, class... Lengths, TileDistribution Distribution, class RowsPerPage, index_t Paged>
TILEWRIGHT_HD auto make_paged_tile_window(const View& view, const tuple<Lengths...>& lengths,
                                          const multi_index<sizeof...(Lengths)>& origin, Distribution distribution,
                                          const page_table<RowsPerPage>& table, number<Paged> dim) {
  return detail::make_paged_window<false>(view, lengths, origin, distribution, table, dim);
}

/// The same in a pool of less than 2^31 bytes.
template <class View, class... Lengths, TileDistribution Distribution, class RowsPerPage, index_t Paged>
TILEWRIGHT_HD auto make_paged_tile_window(const View& view, const tuple<Lengths...>& lengths,
                                          const multi_index<sizeof...(Lengths)>& origin, Distribution distribution,
                                          const page_table<RowsPerPage>& table, number<Paged> dim, near_rows) {
  return detail::make_paged_window<true>(view, lengths, origin, distribution, table, dim);
}

/// Moves the window by a number of elements along each dimension; along the paged one, the table is read again.
template <class Gather, class RowsPerPage>
TILEWRIGHT_HD void move_tile_window(paged_tile_window<Gather, RowsPerPage>& window,
                                    const multi_index<Gather::ndim>& step) {
  multi_index<Gather::ndim> across = step;
  across[Gather::gathered] = 0;
  move_tile_window(static_cast<Gather&>(window), across);
  if (step[Gather::gathered] == 0) return;
  window.first_row += step[Gather::gathered];
  update_page_idx(static_cast<Gather&>(window),
                  detail::rows_of_pages<Gather>(window.table, window.thread_index[Gather::gathered], window.first_row));
}

}  // namespace tilewright
