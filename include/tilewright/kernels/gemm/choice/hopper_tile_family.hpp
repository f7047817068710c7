// SPDX-License-Identifier: MIT
// The family of tiles of warp_specialized_pipeline: all that a kernel can be compiled for.
#pragma once

#include <tilewright/kernels/gemm/hopper/hopper_gemm_facts.hpp>

namespace tilewright {

namespace detail {

/// Shapes of clusters: blocks above each other, and side by side.
struct cluster_shape {
  index_t m, n;
};
inline constexpr cluster_shape cluster_shapes[] = {{1, 1}, {2, 1}, {1, 2}, {4, 1}, {1, 4}, {2, 2}, {4, 2}, {2, 4}};

/// Rows of a tile and the warpgroups that compute them.
struct tile_rows {
  index_t m, consumers;
  bool ping_pong;
};
inline constexpr tile_rows rows_of_tiles[] = {{64, 1, false}, {128, 2, false}, {256, 2, false}, {128, 1, false},
                                              {64, 2, true},  {128, 2, true},  {192, 2, true},  {256, 2, true}};

}  // namespace detail

/// Calls consider(tile) for each tile of a plain GEMM with aligned rows whose kernel exists: m of 64 to 256, n in
/// multiples of `step` up to 256, clusters of up to 8 blocks, both orders of A and B, cooperative and ping-pong.
template <class Function>
constexpr void for_each_tile_of_family(const hopper_gemm_operands& o, index_t step, Function consider) {
  for (const detail::tile_rows& rows : detail::rows_of_tiles)
    for (index_t n = step; n <= 256; n += step)
      for (const detail::cluster_shape& cluster : detail::cluster_shapes)
        for (const bool swap_ab : {false, true}) {
          const hopper_gemm_tile t{.m = rows.m,
                                   .n = n,
                                   .cluster_m = cluster.m,
                                   .cluster_n = cluster.n,
                                   .consumers = rows.consumers,
                                   .swap_ab = swap_ab,
                                   .ping_pong = rows.ping_pong};
          if (t.is_sound() && detail::facts_of(t, o).fits()) consider(t);
        }
}

}  // namespace tilewright
