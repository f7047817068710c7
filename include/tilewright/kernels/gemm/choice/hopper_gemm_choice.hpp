// SPDX-License-Identifier: MIT
// Block tiles for warp_specialized_pipeline that are compiled ahead of time, and which of them suits a product.
#pragma once

#include <tilewright/kernels/gemm/choice/hopper_gemm_model.hpp>

namespace tilewright {

/// The tiles that are compiled ahead of time, as the program propose-tiles selects them, and those for unaligned rows.
inline constexpr array<hopper_gemm_tile, 18> hopper_gemm_tiles{{
    {.m = 128, .n = 256, .cluster_m = 2},
    {.m = 128, .n = 256},
    {.m = 128, .n = 176, .cluster_m = 2, .ping_pong = true},
    {.m = 128, .n = 192, .cluster_m = 2},
    {.m = 128, .n = 112, .cluster_n = 4},
    {.m = 192, .n = 128, .cluster_n = 2, .ping_pong = true},
    {.m = 64, .n = 64, .consumers = 1},
    {.m = 64, .n = 16, .consumers = 1, .swap_ab = true},
    {.m = 128, .n = 160, .cluster_n = 2, .swap_ab = true, .ping_pong = true},
    {.m = 64, .n = 96, .swap_ab = true, .ping_pong = true},
    {.m = 128, .n = 136, .swap_ab = true, .ping_pong = true},
    {.m = 64, .n = 32, .consumers = 1, .swap_ab = true},
    {.m = 64, .n = 128, .consumers = 1, .swap_ab = true},
    {.m = 128, .n = 152, .swap_ab = true, .ping_pong = true},
    {.m = 128, .n = 192, .swap_ab = true, .ping_pong = true},
    {.m = 128, .n = 128, .unaligned = true},
    {.m = 64, .n = 128, .consumers = 1, .unaligned = true},
    {.m = 64, .n = 64, .consumers = 1, .unaligned = true},
}};

/// The tiles of the kernels for all lengths that a program links, and those for unaligned rows. Few, as each takes long
/// to compile.
inline constexpr array<hopper_gemm_tile, 14> linked_hopper_tiles{{
    {.m = 64, .n = 8, .consumers = 1, .swap_ab = true},
    {.m = 64, .n = 16, .consumers = 1, .swap_ab = true},
    {.m = 64, .n = 40, .consumers = 1, .swap_ab = true},
    {.m = 64, .n = 64, .consumers = 1},
    {.m = 64, .n = 128, .cluster_m = 2, .consumers = 1},
    {.m = 128, .n = 80, .cluster_n = 2, .consumers = 1, .swap_ab = true},
    {.m = 128, .n = 104, .cluster_n = 2, .consumers = 1, .swap_ab = true},
    {.m = 128, .n = 128, .cluster_m = 2},
    {.m = 128, .n = 136, .swap_ab = true, .ping_pong = true},
    {.m = 128, .n = 152, .swap_ab = true, .ping_pong = true},
    {.m = 128, .n = 176, .swap_ab = true, .ping_pong = true},
    {.m = 128, .n = 240, .cluster_n = 2, .swap_ab = true},
    {.m = 128, .n = 128, .unaligned = true},
    {.m = 64, .n = 64, .consumers = 1, .unaligned = true},
}};
/// Likewise of two products (SwiGLU), as propose-tiles selects them; n counts the columns of both.
inline constexpr array<hopper_gemm_tile, 4> linked_gate_tiles{{
    {.m = 128, .n = 256, .cluster_n = 2},
    {.m = 128, .n = 192},
    {.m = 64, .n = 128, .ping_pong = true},
    {.m = 64, .n = 64, .cluster_n = 4, .ping_pong = true},
}};

/// The policy of one of them.
template <class T, operand_major AMajor, operand_major BMajor, hopper_gemm_tile Tile, class Result = T,
          class Epilogue = epilogue::alpha_beta>
struct gemm_hopper
    : gemm_policy<arch::sm90, T, AMajor, BMajor, 16 / index_t(sizeof(T)),
                  wgmma_tile<T>(Tile.m, Tile.n, Tile.consumers_per_tile()), warp_specialized_pipeline<Tile>> {
  using result_type = Result;
  using epilogue = Epilogue;
};

/// Types and orders of a product's operands; `Epilogue` as in a policy.
template <class T, operand_major AMajor, operand_major BMajor, class Result = T, class Epilogue = epilogue::alpha_beta>
struct gemm_operation {
  using element_type = T;
  using result_type = Result;
  using epilogue_type = Epilogue;
  static constexpr operand_major a_major = AMajor, b_major = BMajor;  ///< which dimension is contiguous
  /// the same for the model
  static constexpr gemm_operand_types operands{sizeof(T), AMajor == operand_major::k, BMajor == operand_major::k};
};

/// A tile for a product, and how k is split.
struct hopper_gemm_choice {
  hopper_gemm_tile tile = {};  ///< that computes it
  index_t split_k = 0;         ///< of k, as in gemm_choice
  double clocks = 0;           ///< of an SM, as predicted
};

/// Calls consider(choice) for each way to split k with a tile, for up to `most_parts` parts, at least 1. Parts that are
/// too short or that the workspace has no room for are left out, and those that take more than `limit` clocks for sure.
template <class Function>
constexpr void for_each_split(const gemm_args& given, const hopper_gemm_tile& t, const gemm_operand_types& types,
                              index_t SMs, index_t max_split_k, Function consider, double limit = 1e300) {
  const gemm_args g = detail::in_order_of(t, given);
  for (index_t split_k = 0; split_k <= (t.unaligned || t.ping_pong ? 1 : max_split_k); ++split_k) {
    if (detail::least_clocks(g, t, types.element_bytes, SMs, split_k) > limit) {
      if (split_k > 1) break;  // more splits take longer
      continue;
    }
    const stream_k_schedule s = detail::schedule_of(g, t, types.element_bytes, SMs, split_k);
    if (split_k == 0 && s.split_workers == 0) continue;  // nothing to split: as with one part
    const double floats = 16.0 * ceil_div(given.n, 16) * given.m * given.batch * split_k;  // as of a copy of C
    if (split_k > 1 && (s.k_tiles < 4 * split_k || s.whole_tiles * (split_k - 1) > 2 * s.workers ||
                        floats > hopper_gemm_workspace::num_floats || given.batch > 65535))
      break;
    consider(hopper_gemm_choice{t, split_k, detail::predict_clocks_of(s, g, t, types, SMs)});
  }
}

/// The same for each tile of a list but those of which rows of C would fill less than half.
template <class Tiles, class Function>
constexpr void for_each_kernel_of(const Tiles& tiles, const gemm_args& given, const gemm_operand_types& types,
                                  index_t SMs, index_t max_split_k, Function consider) {
  for (const hopper_gemm_tile& t : tiles)
    if (t.m == 64 || detail::in_order_of(t, given).m > t.m / 2)
      for_each_split(given, t, types, SMs, max_split_k, consider);
}
/// The same for hopper_gemm_tiles.
template <class Function>
constexpr void for_each_hopper_kernel(const gemm_args& given, const gemm_operand_types& types, index_t SMs,
                                      index_t max_split_k, Function consider) {
  for_each_kernel_of(hopper_gemm_tiles, given, types, SMs, max_split_k, consider);
}

/// Calls consider(parts, clocks) for the ways in which small_m_gemm splits k: parts as in hopper_gemm_choice. Clocks
/// are fitted to the same products: those of the bytes of B, or of tiles one after another. If k is whole, a block
/// waits for each of its loads; else parts of a tile are added up.
template <class Function>
constexpr void for_each_small_m_kernel(const gemm_args& g, bool moves_vectors, index_t SMs, Function consider) {
  const double bytes = 2.0 * g.n * g.k * g.batch / (moves_vectors ? 2360 : 1590);
  const long_index_t tiles = long_index_t(ceil_div(g.n, 64)) * g.batch, blocks = 2 * SMs;
  const double of_block = double(tiles) / double(blocks);
  consider(1, 5740 + max(bytes, double(ceil_div(tiles, blocks)) * g.k * (moves_vectors ? 6.6 : 19.8)));
  if (g.workspace)
    consider(0, (moves_vectors ? 6660 : 8990) + max(bytes, 704 * of_block) + 81 * min(1 / of_block, g.k / 256.0));
}

}  // namespace tilewright
