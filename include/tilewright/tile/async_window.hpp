// SPDX-License-Identifier: MIT
// Makes tile windows for copies that fill LDS lane after lane; in a swizzled layout lanes exchange their accesses.
#pragma once

#include <tilewright/tile/async_load.hpp>

namespace tilewright {

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
  const lds_access_walk walk(layout, e, element_bytes);
  const index_t lanes = walk.num_lanes(), bytes = walk.bytes_per_lane(), footprint = lanes * bytes;
  if (walk.rule() != lds_access_walk::addresses_are::xor_of_parts || walk.num_access() != num_access) return {};
  const array<index_t, 64> lane_at = walk.lanes_by_place(0, 0);  // a place: the rank of an address in LDS
  const lds_addresses address = walk.addresses(0, 0);
  for (index_t place = 0; place < lanes; ++place) {
    if (lane_at[place] < 0 || address[place] / footprint != address[0] / footprint) return {};
  }
  const auto flips_of = [&](index_t wave, index_t access) {
    return lane_at[(walk.first_address(wave, access) ^ address[0]) % footprint / bytes];
  };
  permutation_choice choice{lane_at[0] == 0 && num_access <= 1 << lane_permutation::max_bits};
  lane_permutation& permutation = choice.permutation;
  for (index_t b = 0; 1 << b < lanes; ++b)
    permutation.of_lane |= lane_permutation::make_field(b, lane_at[1 << b] ^ 1 << b);
  for (index_t b = 0; 1 << b < walk.num_waves(); ++b)
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
  p[lane] = permuted_lane<Window::accesses::plan.permutation>(lane == 0 ? 0 : p[0], p[lane], make_sequence<6>{});
  const auto position = [&](index_t flips) TILEWRIGHT_INLINE_LAMBDA {
    multi_index<Distribution::ndim_p> other = p;
    other[lane] ^= flips;
    return Distribution::calculate_index(other);
  };
  constexpr auto groups = find_lane_groups<Window::num_access>(Window::accesses::plan.permutation);
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
      if constexpr (!detail::are_lengths_of_tile_v<Distribution, Lengths...>)
        detail::require_lengths_of_tile<Distribution, Lengths...>();
      if constexpr (TILEWRIGHT_CPU_PASS) detail::expect_partition<Distribution>(get_partition_index<Distribution>());
      using window_type = tile_window<View, Distribution, address_plan{.permutation = choice.permutation}>;
      window_type window{
          view, origin, detail::positions_of_lanes<window_type>(make_sequence<window_type::num_lanes>{}), {}, {}};
      detail::compute_bases(window, true, typename window_type::base_sequence{}, typename window_type::dim_sequence{});
      return window;
    }
  }
}

}  // namespace tilewright
