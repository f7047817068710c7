// SPDX-License-Identifier: MIT
// Windows for copies that fill LDS lane after lane: in a swizzled layout, each lane copies the element whose
// place in LDS is its own.
#pragma once

#include <tilewright/tile/async_load.hpp>

namespace tilewright {

namespace detail {

/// Which lane's elements each lane moves: lane l of wave w, in access i, those of lane
/// xor(of_lane_bit[b] for the bits of l) ^ xor(of_wave_bit[b] for the bits of w) ^ of_group[group[i]].
template <index_t NumAccess>
struct lane_takeover {
  bool is_possible = false;
  array<index_t, 6> of_lane_bit{};
  array<index_t, 6> of_wave_bit{};
  index_t num_groups = 0;  // of accesses that flip the same bits
  array<index_t, NumAccess> group{};
  array<index_t, NumAccess> of_group{};
};

/// Places are the addresses of a wave's instruction in LDS, in order. Possible where these are linear over F2 and each
/// instruction fills as many bytes as it is aligned to: other accesses and waves then see the same order,
/// with some bits flipped.
template <tensor_graph LdsGraph, distribution_encoding Encoding, index_t ElementBytes, index_t NumAccess>
TILEWRIGHT_HD constexpr lane_takeover<NumAccess> make_lane_takeover() {
  lane_takeover<NumAccess> takeover;
  const lds_access_walk walk(LdsGraph, Encoding, ElementBytes);
  const index_t lanes = walk.num_lanes(), bytes = walk.bytes_per_lane(), footprint = lanes * bytes;
  if (walk.rule() != lds_access_walk::addresses_are::xor_of_parts || walk.num_access() != NumAccess) return takeover;
  const array<index_t, 64> lane_at = lanes_by_place(walk, 0, 0);
  const lds_addresses address = walk.addresses(0, 0);
  for (index_t place = 0; place < lanes; ++place) {
    if (lane_at[place] < 0 || address[place] / footprint != address[0] / footprint) return takeover;
  }
  takeover.is_possible = true;
  const auto flip_of = [&](index_t wave, index_t access) {
    return lane_at[(walk.first_address(wave, access) ^ walk.first_address(0, 0)) % footprint / bytes] ^ lane_at[0];
  };
  for (index_t b = 0; 1 << b < lanes; ++b) takeover.of_lane_bit[b] = lane_at[1 << b] ^ lane_at[0];
  for (index_t b = 0; 1 << b < walk.num_waves(); ++b) takeover.of_wave_bit[b] = flip_of(1 << b, 0);
  for (index_t i = 0; i < NumAccess; ++i) {
    const index_t own = lane_at[0] ^ flip_of(0, i);
    index_t g = 0;
    while (g < takeover.num_groups && takeover.of_group[g] != own) ++g;
    if (g == takeover.num_groups) takeover.of_group[takeover.num_groups++] = own;
    takeover.group[i] = g;
  }
  return takeover;
}

template <index_t... Bits>
TILEWRIGHT_HD constexpr index_t xor_of_bits(index_t value, sequence<Bits...>) {
  index_t result = 0, b = 0;
  ((result ^= Bits == 0 ? 0 : (value >> b & 1) * Bits, ++b), ...);
  return result;
}

}  // namespace detail

/// Made by make_async_tile_window: a window whose accesses belong to other lanes of the wave, as LDS with LdsGraph's
/// layout wants it. For async_load_tile only; the registers of a tile would be those of other lanes.
template <class View, TileDistribution Distribution, tensor_graph LdsGraph>
struct async_tile_window {
  using view_type = View;
  using distribution_type = Distribution;
  using element_type = typename View::element_type;
  using descriptor_type = typename View::descriptor_type;
  static constexpr index_t ndim = descriptor_type::ndim;
  static constexpr tensor_graph graph = descriptor_type::graph;
  static constexpr index_t element_bytes = sizeof(element_type);
  static constexpr bool is_in_lane_order = true;
  using plain = tile_window<View, Distribution>;
  static constexpr index_t num_access = plain::num_access;
  static constexpr index_t vector_length = plain::vector_length;
  static constexpr index_t vector_dim_y = plain::vector_dim_y;
  static constexpr index_t register_step = plain::register_step;
  using vector_type = typename plain::vector_type;
  using accesses = typename plain::accesses;
  using access_sequence = typename plain::access_sequence;
  using dim_sequence = typename plain::dim_sequence;
  struct takeover {
    static constexpr auto value =
        detail::make_lane_takeover<LdsGraph, Distribution::encoding, element_bytes, num_access>();
  };
  static constexpr index_t num_groups = takeover::value.num_groups;
  View view;
  multi_index<ndim> origin;
  array<tile_window<View, Distribution>, num_groups> windows;  // one for each lane whose place this thread takes

  /// Byte offsets from the buffer's begin, of accesses Is.
  template <index_t... Is>
  TILEWRIGHT_HD constexpr array<index_t, num_access> offsets(sequence<Is...>) const {
    array<index_t, num_access> result{};
    ((result[Is] = windows[constant(takeover::value.group[Is])].base[constant(accesses::list.base[Is])] +
                   constant(accesses::list.immediate[Is] * element_bytes)),
     ...);
    return result;
  }

  /// Clears inside[I] for those accesses that lie outside of the tensor along dimension D.
  template <index_t D, index_t... Is>
  TILEWRIGHT_HD constexpr void check_along(array<bool, num_access>& inside, sequence<Is...>) const {
    const unsigned length = unsigned(view.descriptor.template get_length<D>());
    ((inside[Is] &= unsigned(origin[D] + windows[constant(takeover::value.group[Is])].thread_index[D] +
                             constant(accesses::list.x[Is][D])) < length),
     ...);
  }

  /// Index of access I in the tensor.
  template <index_t I, index_t... Ds>
  TILEWRIGHT_HD constexpr multi_index<ndim> index_of_access(sequence<Ds...> dims) const {
    return windows[constant(takeover::value.group[I])].template index_of_access<I>(dims);
  }
};

/// A window for async_load_tile, on either side: `lds_descriptor` is the layout of the tile in LDS. It must be a
/// swizzle that stays within what each instruction of a wave writes; others are refused. Where the layout is in the
/// order of the lanes anyway, this is an ordinary window.
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
    using window_type = async_tile_window<View, Distribution, layout>;
    using takeover = typename window_type::takeover;
    constexpr bool stays_in_footprint = takeover::value.is_possible;
    static_assert(stays_in_footprint,
                  "make_async_tile_window: with this layout a wave's instruction would write places that are not its "
                  "own, or vectors that the view does not have; permute within the bytes that a wave writes at once");
    if constexpr (takeover::value.is_possible) {
      constexpr auto of_lane = []<index_t... Is>(sequence<Is...>) {
        return sequence<takeover::value.of_lane_bit[Is]...>{};
      }(make_sequence<6>{});
      constexpr auto of_wave = []<index_t... Is>(sequence<Is...>) {
        return sequence<takeover::value.of_wave_bit[Is]...>{};
      }(make_sequence<6>{});
      multi_index<Distribution::ndim_p> p = get_partition_index<Distribution>();
      index_t lane = detail::xor_of_bits(p[Distribution::ndim_p - 1], of_lane);
      if constexpr (Distribution::ndim_p == 2) lane ^= detail::xor_of_bits(p[0], of_wave);
      return [&]<index_t... Gs>(sequence<Gs...>) TILEWRIGHT_INLINE_LAMBDA {
        const auto window_of = [&](index_t flip) TILEWRIGHT_INLINE_LAMBDA {
          p[Distribution::ndim_p - 1] = lane ^ flip;
          return make_tile_window(view, lengths, origin, distribution, p);
        };
        window_type window{view, origin, {{window_of(number<takeover::value.of_group[Gs]>::value)...}}};
        window.view = window.windows[0].view;
        return window;
      }(make_sequence<window_type::num_groups>{});
    }
  }
}

/// Moves the window by a number of elements along each dimension.
template <class View, class Distribution, tensor_graph LdsGraph>
TILEWRIGHT_HD constexpr void move_tile_window(async_tile_window<View, Distribution, LdsGraph>& window,
                                              const multi_index<View::descriptor_type::ndim>& step) {
  unroll<View::descriptor_type::ndim>([&](auto d) TILEWRIGHT_INLINE_LAMBDA { window.origin[d] += step[d]; });
  unroll<async_tile_window<View, Distribution, LdsGraph>::num_groups>(
      [&](auto g) TILEWRIGHT_INLINE_LAMBDA { move_tile_window(window.windows[g], step); });
  window.view = window.windows[0].view;
}

}  // namespace tilewright
