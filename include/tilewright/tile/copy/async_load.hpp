// SPDX-License-Identifier: MIT
// Asynchronous copies of a tile from global memory to LDS, without registers where the target can: the copy, and
// windows for it. In a swizzled layout lanes exchange their accesses.
#pragma once

#include <tilewright/core/lds/lds_access_pattern.hpp>
#include <tilewright/tile/copy/load_store.hpp>

namespace tilewright {

namespace detail {

/// Whether every instruction writes the lanes of its wave to consecutive places.
TILEWRIGHT_HD constexpr bool fills_lds_in_lane_order(const tensor_graph& layout, const distribution_encoding& e,
                                                     index_t element_bytes) {
  const lds_access_pattern pattern(layout, e, element_bytes);
  const bool all_alike = pattern.rule() == lds_access_pattern::addresses_are::sum_of_terms;
  for (index_t wave = 0; wave < (all_alike ? 1 : pattern.num_waves()); ++wave) {
    for (index_t access = 0; access < (all_alike ? 1 : pattern.num_access()); ++access) {
      const lds_addresses address = pattern.addresses(wave, access);
      for (index_t lane = 0; lane < pattern.num_lanes(); ++lane) {
        if (address[lane] != address[0] + lane * pattern.bytes_per_lane()) return false;
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
/// store (see check_direct_to_lds). Kernels that copy again and again take lane_copy or wave_copy,
/// which check bounds once.
template <TileWindow LdsWindow, TileWindow Window, class Known = in_bounds<>>
TILEWRIGHT_HD void async_load_tile(const LdsWindow& lds_window, const Window& window, Known known = {},
                                   index_t lds_bytes = 0, exec::call_site where = {}) {
  const exec::call_scope scope(where);
  constexpr bool is_destination_in_lds = LdsWindow::view_type::address_space == address_space_enum::lds;
  static_assert(is_destination_in_lds, "async_load_tile: the first window must be in LDS");
  constexpr bool is_source_in_global_memory = Window::view_type::address_space == address_space_enum::global;
  static_assert(is_source_in_global_memory, "async_load_tile: the second window must be in global memory");
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
  constexpr bool have_same_lanes = LdsWindow::accesses::permutation == Window::accesses::permutation;
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

namespace detail {

struct permutation_choice {
  bool is_possible = false;
  lane_permutation permutation = {};
};

/// The permutation after which a wave's lanes fill LDS in the order of their numbers. Possible where addresses are
/// linear over F2 and each instruction fills as many bytes as it is aligned to: other accesses and waves then see the
/// same order, with some bits flipped.
TILEWRIGHT_HD constexpr permutation_choice choose_lane_permutation(const tensor_graph& layout,
                                                                   const distribution_encoding& e,
                                                                   index_t element_bytes, index_t num_access) {
  const lds_access_pattern pattern(layout, e, element_bytes);
  const index_t lanes = pattern.num_lanes(), bytes = pattern.bytes_per_lane(), footprint = lanes * bytes;
  if (pattern.rule() != lds_access_pattern::addresses_are::xor_of_terms || pattern.num_access() != num_access)
    return {};
  const array<index_t, 64> lane_at = pattern.lanes_by_address(0, 0);  // a place: the rank of an address in LDS
  const lds_addresses address = pattern.addresses(0, 0);
  for (index_t place = 0; place < lanes; ++place) {
    if (lane_at[place] < 0 || address[place] / footprint != address[0] / footprint) return {};
  }
  const auto flips_of = [&](index_t wave, index_t access) {
    return lane_at[(pattern.first_address(wave, access) ^ address[0]) % footprint / bytes];
  };
  permutation_choice choice{lane_at[0] == 0 && num_access <= 1 << lane_permutation::max_bits};
  lane_permutation& permutation = choice.permutation;
  for (index_t b = 0; 1 << b < lanes; ++b)
    permutation.of_lane |= lane_permutation::make_field(b, lane_at[1 << b] ^ 1 << b);
  for (index_t b = 0; 1 << b < pattern.num_waves(); ++b)
    permutation.of_wave |= lane_permutation::make_field(b, flips_of(1 << b, 0));
  for (index_t b = 0; 1 << b < num_access; ++b)
    permutation.of_access |= lane_permutation::make_field(b, flips_of(0, 1 << b));
  for (index_t i = 0; i < num_access; ++i)
    choice.is_possible = choice.is_possible && lane_permutation::flips(permutation.of_access, i) == flips_of(0, i);
  return choice;
}

/// Positions in the tile of the lanes whose accesses the calling thread makes.
template <class Window, index_t... Groups>
TILEWRIGHT_HD constexpr array<multi_index<Window::ndim>, Window::num_lanes> positions_of_lanes(sequence<Groups...>) {
  using Distribution = typename Window::distribution_type;
  constexpr index_t lane = Distribution::ndim_p - 1;
  multi_index<Distribution::ndim_p> p = get_partition_index<Distribution>();
  p[lane] = permuted_lane<Window::accesses::permutation>(lane == 0 ? 0 : p[0], p[lane], make_sequence<6>{});
  const auto position = [&](index_t flips) TILEWRIGHT_INLINE_LAMBDA {
    multi_index<Distribution::ndim_p> other = p;
    other[lane] ^= flips;
    return Distribution::calculate_index(other);
  };
  constexpr auto groups = find_lane_groups<Window::num_access>(Window::accesses::permutation);
  return {{position(constant(groups.flips[Groups]))...}};
}

}  // namespace detail

/// A window for async_load_tile, on either side: `lds_descriptor` is the layout of the tile in LDS. It must be a
/// swizzle that stays within what each instruction of a wave writes; others are refused. Each lane makes the accesses
/// of the lane whose place in LDS is its own, so load_tile and store_tile refuse the window. Where the layout is in
/// the order of the lanes anyway, this is an ordinary window.
template <class View, class... Lengths, TileDistribution Distribution, TensorDescriptor LdsDescriptor>
TILEWRIGHT_HD constexpr auto make_async_tile_window(const View& view, const tuple<Lengths...>& lengths,
                                                    const multi_index<sizeof...(Lengths)>& origin,
                                                    Distribution distribution, const LdsDescriptor&) {
  constexpr tensor_graph layout = LdsDescriptor::graph;
  constexpr bool is_layout_known = LdsDescriptor::is_static();
  static_assert(is_layout_known, "make_async_tile_window: the layout in LDS must be known at compile time");
  constexpr index_t element_bytes = sizeof(typename View::element_type);
  if constexpr (detail::fills_lds_in_lane_order(layout, Distribution::encoding, element_bytes)) {
    return make_tile_window(view, lengths, origin, distribution);
  } else {
    constexpr index_t vector_length =
        detail::choose_vector(View::descriptor_type::graph, Distribution::encoding, element_bytes).length;
    constexpr detail::permutation_choice choice = detail::choose_lane_permutation(
        layout, Distribution::encoding, element_bytes, Distribution::num_elements / vector_length);
    constexpr bool stays_in_footprint = choice.is_possible;
    static_assert(stays_in_footprint,
                  "make_async_tile_window: with this layout a wave's instruction would write places that are not its "
                  "own, or vectors that the view does not have; permute within the bytes that a wave writes at once");
    if constexpr (choice.is_possible) {
      detail::require_lengths_of_tile<Distribution, Lengths...>();
      if constexpr (TILEWRIGHT_CPU_PASS) detail::expect_partition<Distribution>(get_partition_index<Distribution>());
      using window_type = tile_window<View, Distribution, choice.permutation>;
      window_type window{
          view, origin, detail::positions_of_lanes<window_type>(make_sequence<window_type::num_lanes>{}), {}};
      detail::complete_window(window);
      return window;
    }
  }
}

}  // namespace tilewright
