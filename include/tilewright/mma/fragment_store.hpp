// SPDX-License-Identifier: MIT
// Writes a matrix instruction's result from registers to LDS, 8x8 matrices at a time (stmatrix).
#pragma once

#include <tilewright/distribution/embed_encoding.hpp>
#include <tilewright/distribution/lane_map_encoding.hpp>
#include <tilewright/mma/fragment_load.hpp>

namespace tilewright::detail {

/// The tile of one wave that consists of `repeat_n` results of an instruction next to each other.
TILEWRIGHT_HD constexpr distribution_encoding wave_tile_encoding(index_t repeat_n, const arch::lane_map& result) {
  distribution_encoding outer;
  outer.h.push_back({});
  outer.h.push_back({});
  outer.h[1].push_back(repeat_n);
  outer.y.push_back({2, 0});
  return embed(outer, encoding_of(result));
}

#if TILEWRIGHT_HOPPER_PASS

/// Writes a tile with the distribution of results to a window with the distribution of the addresses
/// (ldmatrix_address_map). The window's addresses are moved by `lds_bytes`.
template <class View, class Addresses, class T, class Distribution>
TILEWRIGHT_HD void store_fragments(const tile_window<View, Addresses>& window,
                                   const static_distributed_tensor<T, Distribution>& tile, index_t lds_bytes) {
  using window_type = tile_window<View, Addresses>;
  static_assert(window_type::vector_length == 8, "store_fragments: stmatrix writes rows of 16 contiguous bytes");
  const auto offsets = window.offsets(typename window_type::access_sequence{});
  unroll<window_type::num_access>([&](auto i) {
    array<unsigned, 4> words;
    __builtin_memcpy(&words, tile.thread_buffer.data() + constant(window_type::accesses::list.first_register[i.value]),
                     sizeof(words));
    exec::stmatrix_x4<vector_dim_x<window_type> == 0>(window.view.buffer, offsets[i.value] + lds_bytes, words);
  });
}

#endif

}  // namespace tilewright::detail
