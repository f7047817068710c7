// SPDX-License-Identifier: MIT
// Writes a matrix instruction's result from registers to LDS, 8x8 matrices at a time (stmatrix).
#pragma once

#include <tilewright/distribution/embed_encoding.hpp>
#include <tilewright/distribution/lane_map_encoding.hpp>
#include <tilewright/mma/fragment_load.hpp>

namespace tilewright {

namespace detail {

/// The tile of one wave that consists of `repeat` results of an instruction next to each other, or (transposed) one
/// above the other.
TILEWRIGHT_HD constexpr distribution_encoding wave_tile_encoding(index_t repeat, const arch::lane_map& result,
                                                                 bool transposed = false) {
  distribution_encoding outer;
  outer.h.push_back({});
  outer.h.push_back({});
  outer.h[transposed ? 0 : 1].push_back(repeat);
  outer.y.push_back(transposed ? rh_id{1, 0} : rh_id{2, 0});
  return embed(outer, encoding_of(result));
}

/// Where a result's elements are in the transposed matrix.
TILEWRIGHT_HD constexpr arch::lane_map transposed_map(arch::lane_map result) {
  using enum arch::lane_map_bit::coordinate;
  const auto exchange = [](auto& bits) {
    for (index_t i = 0; i < bits.size(); ++i) {
      if (bits[i].of != none) bits[i].of = bits[i].of == row ? col : row;
    }
  };
  exchange(result.lane);
  exchange(result.reg);
  return result;
}

}  // namespace detail

#if TILEWRIGHT_HOPPER_PASS
namespace detail {

/// Writes a tile with the distribution of results to a window with the distribution of the addresses
/// (ldmatrix_address_map; Transposed: those of the transposed result). The window's addresses are moved by `lds_bytes`.
template <bool Transposed = false, class View, class Addresses, class T, class Distribution>
TILEWRIGHT_HD void store_fragments(const tile_window<View, Addresses>& window,
                                   const static_distributed_tensor<T, Distribution>& tile, index_t lds_bytes) {
  using window_type = tile_window<View, Addresses>;
  static_assert(window_type::vector_length == 8, "store_fragments: stmatrix writes rows of 16 contiguous bytes");
  const auto offsets = window.offsets(typename window_type::access_sequence{});
  unroll<window_type::num_access>([&](auto i) {
    array<unsigned, 4> words;
    __builtin_memcpy(&words, tile.thread_buffer.data() + constant(window_type::accesses::list.first_register[i.value]),
                     sizeof(words));
    exec::stmatrix_x4<Transposed>(window.view.buffer, offsets[i.value] + lds_bytes, words);
  });
}

/// Reads such a tile back.
template <bool Transposed, class Tile, class View, class Addresses>
TILEWRIGHT_HD Tile load_stored_fragments(const tile_window<View, Addresses>& window, index_t lds_bytes) {
  using window_type = tile_window<View, Addresses>;
  const auto offsets = window.offsets(typename window_type::access_sequence{});
  Tile tile;
  unroll<window_type::num_access>([&](auto i) {
    const auto words = exec::ldmatrix_x4<Transposed>(window.view.buffer, offsets[i.value] + lds_bytes);
    __builtin_memcpy(tile.thread_buffer.data() + constant(window_type::accesses::list.first_register[i.value]), &words,
                     sizeof(words));
  });
  return tile;
}

}  // namespace detail
#endif

}  // namespace tilewright
