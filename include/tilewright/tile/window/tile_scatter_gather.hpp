// SPDX-License-Identifier: MIT
// Tile windows whose rows are anywhere: one dimension's indices come from a table, of rows or of pages.
#pragma once

#include <tilewright/tile/window/tile_window.hpp>

namespace tilewright {

/// Promises make_tile_scatter_gather and make_paged_tile_window that all rows begin within 2^31 bytes, so that AMD GPUs
/// may use their buffer instructions. The CPU emulator checks it.
struct near_rows {};

namespace detail {
/// Whether the whole tensor is known to have less than 2^31 bytes.
template <tensor_graph Graph>
TILEWRIGHT_HD constexpr bool is_known_to_be_near(index_t element_bytes) {
  if constexpr (Graph.num_values != 0) {
    return false;
  } else {
    constexpr transform_spec spec = Graph.nodes[0].spec;
    return rules_of<spec.kind, spec.function>().least_lower_length(spec.parameters.begin(), spec.num_upper, 0) <=
           0x7fffffff / element_bytes;
  }
}

/// The window of make_tile_scatter_gather and make_paged_tile_window: along all other dimensions of a linear view,
/// accesses share an address.
template <class View>
constexpr address_plan gather_plan(index_t gathered, bool is_promised_near, index_t rows_per_page) {
  const bool is_far = View::address_space == address_space_enum::global && !is_promised_near &&
                      !is_known_to_be_near<View::descriptor_type::graph>(sizeof(typename View::element_type));
  const unsigned others = ((1u << View::descriptor_type::ndim) - 1) & ~(1u << gathered);
  return {true, is_linear(View::descriptor_type::graph) ? others : 0, gathered, is_far, rows_per_page};
}
template <class View, class Distribution, index_t Gathered, bool IsPromisedNear = false, index_t RowsPerPage = 0>
using gather_window_t = tile_window<View, Distribution, gather_plan<View>(Gathered, IsPromisedNear, RowsPerPage)>;

/// Rows anywhere in memory: no promise.
struct any_rows {};
template <class Rows>
concept RowsInReach = __is_same(Rows, near_rows) || __is_same(Rows, any_rows);
}  // namespace detail

/// How many indices of dimension Gathered a thread needs for a window with this distribution.
template <class View, TileDistribution Distribution, index_t Gathered>
inline constexpr index_t num_page_indices = detail::gather_window_t<View, Distribution, Gathered>::num_pages;

/// A window whose rows are anywhere (tokens of experts, pages of a cache): along dimension Gathered the index is
/// page_idx[k] for the k-th position that this thread holds, in order; origin[Gathered] is not used. An index outside
/// of the tensor, -1 for instance, reads zeros and writes nothing. Rows may be anywhere in memory if the view is
/// linear, else within 2^31 elements. near_rows{} promises that all rows start within 2^31 bytes; tensors whose lengths
/// are known to make them so small need no promise.
template <class View, class... Lengths, TileDistribution Distribution, class PageIndex, index_t Gathered,
          detail::RowsInReach Rows = detail::any_rows>
TILEWRIGHT_HD constexpr auto make_tile_scatter_gather(const View& view, const tuple<Lengths...>&,
                                                      const multi_index<sizeof...(Lengths)>& origin,
                                                      Distribution distribution, const PageIndex& page_idx,
                                                      number<Gathered>, Rows = {}) {
  constexpr index_t ndim = View::descriptor_type::ndim;
  constexpr bool num_lengths_match = ndim == index_t(sizeof...(Lengths));
  static_assert(num_lengths_match, "make_tile_scatter_gather: one length is needed for each dimension of the view");
  static_assert(0 <= Gathered && Gathered < ndim, "make_tile_scatter_gather: the view has no such dimension");
  using window_type = detail::gather_window_t<View, Distribution, Gathered, __is_same(Rows, near_rows)>;
  if constexpr (!detail::are_lengths_of_tile_v<Distribution, Lengths...>)
    detail::require_lengths_of_tile<Distribution, Lengths...>();
  constexpr bool right_indices = __is_same(PageIndex, typename window_type::page_index);
  static_assert(right_indices,
                "make_tile_scatter_gather: the indices must be an array<index_t, num_page_indices<View, Distribution, "
                "Gathered>>");
  return detail::make_grouped_window<window_type>(view, detail::without_gathered<window_type>(origin), distribution,
                                                  {page_idx});
}

/// This thread's indices from a table in global memory: table[begin + position of each of its rows],
/// -1 where the table has ended.
template <class View, index_t Gathered, TileDistribution Distribution>
TILEWRIGHT_HD auto load_page_indices(const index_t* table, index_t length, index_t begin, Distribution) {
  using window_type = detail::gather_window_t<View, Distribution, Gathered>;
  const auto own = Distribution::calculate_index(get_partition_index<Distribution>());
  const exec::global_buffer buffer = exec::make_global_buffer(table, long_index_t(length) * 4);
  typename window_type::page_index result{};
  unroll<window_type::num_pages>([&](auto k) {
    const index_t row =
        begin + own[Gathered] + constant(detail::gathered_positions_v<typename window_type::accesses>.x[k.value]);
    const bool inside = row >= 0 && row < length;
    const index_t index = exec::buffer_load<index_t>(buffer, inside ? row * 4 : exec::out_of_bounds_offset);
    result[k] = inside ? index : -1;
  });
  return result;
}

/// Other indices for the same window.
template <class View, class Distribution, address_plan Plan>
TILEWRIGHT_HD constexpr void update_page_idx(
    tile_window<View, Distribution, Plan>& window,
    const typename tile_window<View, Distribution, Plan>::page_index& page_idx) {
  using window_type = tile_window<View, Distribution, Plan>;
  static_assert(Plan.gathered >= 0, "update_page_idx: the window takes no indices from a table");
  if constexpr (Plan.gathered >= 0) {
    window.indices.page_idx = page_idx;
    detail::compute_bases(window, false, typename window_type::base_sequence{}, typename window_type::dim_sequence{});
  }
}

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
