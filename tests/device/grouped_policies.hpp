// SPDX-License-Identifier: MIT
// Grouped and block-scaled policies whose kernels the emulator runs.
#pragma once

#include <tilewright/kernels/gemm/choice/block_scaled_tiles.hpp>
#include <tilewright/kernels/gemm/grouped/grouped_gemm.hpp>
#include <tilewright/kernels/gemm/stream_k_gemm.hpp>

namespace grouped_policies {

namespace tw = tilewright;
using enum tw::operand_major;

template <class Arch>
struct rows : tw::grouped<tw::gemm_policy<Arch, tw::bfloat16_t, k, mn, 8>, tw::group_kind::rows> {};
template <class Arch>
struct along_k : tw::grouped<tw::gemm_policy<Arch, tw::half_t, mn, mn, 8>, tw::group_kind::k> {};

template <class Arch>
using fp8_t = tw::detail::conditional_t<Arch::value.fp8 == tw::arch::fp8_kind::fnuz, tw::fp8_fnuz_t, tw::fp8_ocp_t>;
template <class Arch>
struct fp8 : tw::gemm_policy<Arch, fp8_t<Arch>, k, k, 16> {
  using result_type = tw::bfloat16_t;
};
template <class Arch>
struct scaled : tw::block_scaled<fp8<Arch>> {};
/// Tiles of block_scaled_tiles. k is split, added up by the last block of a tile.
template <class Arch, tw::block_scaled_tile Tile>
struct scaled_tile : tw::gemm_block_scaled_tile<Arch, fp8_t<Arch>, 16, Tile> {
  using result_type = tw::bfloat16_t;
  static constexpr tw::split_k_kind split_k = tw::split_k_kind::fix_up;
};
/// A tile that blocks share.
template <class Arch>
struct scaled_shared : tw::gemm_block_scaled_tile<Arch, fp8_t<Arch>, 16, tw::block_scaled_tile{64, 64, 2, 2}> {
  using result_type = tw::bfloat16_t;
};
template <class Arch>
struct scaled_rows : tw::grouped<scaled<Arch>, tw::group_kind::rows> {};

}  // namespace grouped_policies

/// X(name, tile...): kernels of block-scaled tiles, where they fit the target.
#define TILEWRIGHT_TEST_SCALED_TILES(X)       \
  X(scaled_16x32, 16, 32, 1, 2, 1, 4)         \
  X(scaled_16x64, 16, 64, 1, 2, 1, 4)         \
  X(scaled_48x32, 48, 32, 1, 2, 1, 2)         \
  X(scaled_48x64, 48, 64, 1, 2, 1, 2)         \
  X(scaled_64x128, 64, 128, 1, 2)             \
  X(scaled_48x128, 48, 128, 1, 4)             \
  X(scaled_80x128, 80, 128, 1, 4)             \
  X(scaled_96x128, 96, 128, 2, 2)             \
  X(scaled_256x128, 256, 128, 4, 2)           \
  X(scaled_128x128_direct, 128, 128, 2, 2, 2) \
  X(scaled_192x128_direct, 192, 128, 4, 2, 2) \
  X(scaled_256x128_direct, 256, 128, 4, 2, 2)
