// SPDX-License-Identifier: MIT
// Block tiles of hopper_narrow_gemm, and which of them suits a product.
#pragma once

#include <tilewright/kernels/gemm/hopper/hopper_narrow_gemm.hpp>

namespace tilewright {

/// A tile for a hopper_narrow_policy, and elements along k of its stages.
struct hopper_narrow_tile {
  hopper_gemm_tile tile;  ///< n: rows of A
  index_t tile_k;         ///< the policy's TileK for weights of 4 bits; see tile_k_of()

  /// TileK for a format: rows of weights have at most 128 bytes in a stage, and at most 16 bytes of scales.
  TILEWRIGHT_HD constexpr index_t tile_k_of(index_t bits, index_t group, index_t scale_bytes) const {
    index_t k = min(tile_k, 1024 / bits);
    while (group != 0 && k > 64 && k / group * scale_bytes > 16) k /= 2;
    return k;
  }
  friend constexpr bool operator==(const hopper_narrow_tile&, const hopper_narrow_tile&) = default;
};

/// From few rows of A to many.
inline constexpr array<hopper_narrow_tile, 5> hopper_narrow_tiles{{
    {{.m = 128, .n = 16, .swap_ab = true}, 256},
    {{.m = 128, .n = 32, .swap_ab = true}, 256},
    {{.m = 128, .n = 64, .swap_ab = true}, 128},
    {{.m = 128, .n = 128, .swap_ab = true}, 128},
    {{.m = 128, .n = 256, .swap_ab = true}, 64},
}};

namespace detail {

/// Clocks that a product takes with a tile, fitted to times on an H100 of formats of 4 bits, 16 to 4,096 rows. Each 64
/// of k are decoded, and multiplied by n rows; tiles of the last round are split along k.
TILEWRIGHT_HD constexpr double narrow_clocks(const hopper_narrow_tile& t, index_t m, index_t n, index_t k,
                                             index_t SMs) {
  constexpr double start = 6000, decode = 440, row = 3.6;
  const double steps = double(ceil_div(n, t.tile.m)) * ceil_div(m, t.tile.n) * ceil_div(k, 64);
  return start + steps / SMs * (decode + row * t.tile.n);
}

}  // namespace detail

/// The fastest of these tiles for C (m, n) = A (m, k) W (n, k)^T.
constexpr hopper_narrow_tile choose_narrow_tile(index_t m, index_t n, index_t k, index_t SMs = 132) {
  hopper_narrow_tile best = hopper_narrow_tiles[0];
  double least = detail::narrow_clocks(best, m, n, k, SMs);
  for (const hopper_narrow_tile& t : hopper_narrow_tiles.elements) {
    const double clocks = detail::narrow_clocks(t, m, n, k, SMs);
    if (clocks < least) best = t, least = clocks;
  }
  return best;
}

}  // namespace tilewright
