// SPDX-License-Identifier: MIT
// The pipeline of a policy for Hopper: TMA loads, wgmma, a schedule of tiles; its tile.
#pragma once

#include <tilewright/kernels/gemm/gemm_policy.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_gemm_tile.hpp>

namespace tilewright {

/// For Hopper: persistent blocks of a producer warpgroup, which fills stages in LDS by TMA, and one or two
/// consumers, which multiply with wgmma; the last round of tiles is split along k (stream-K) where that is faster.
/// Tile says how; the policy's block_tile and products say how large it is and who consumes.
template <hopper_gemm_tile Tile = hopper_gemm_tile{}>
struct warp_specialized_pipeline {
  static constexpr hopper_gemm_tile tile = Tile;  ///< what a block computes
};

/// A block tile of m x n for it: a stage has 128 bytes of each row along k.
template <class T>
TILEWRIGHT_HD constexpr block_tile wgmma_tile(index_t m, index_t n, index_t consumers = 2) {
  return {m,
          n,
          128 / index_t(sizeof(T)),
          4 * consumers,
          1,
          sizeof(T) == 2 ? arch::matrix_op::wgmma_k16 : arch::matrix_op::wgmma_k32_b8};
}

template <class Arch, class T, operand_major AMajor, operand_major BMajor, index_t Vector, block_tile Tile,
          hopper_gemm_tile How>
struct gemm_policy<Arch, T, AMajor, BMajor, Vector, Tile, warp_specialized_pipeline<How>>
    : detail::gemm_choices<Arch, T>, detail::operand_choices<Arch, T, AMajor, BMajor, Vector, Tile> {
  static_assert(sizeof(T) == 2 || (AMajor == operand_major::k && BMajor == operand_major::k),
                "gemm_policy: wgmma takes operands of 8 bits only where they are contiguous along k");
  using pipeline = warp_specialized_pipeline<How>;
};

}  // namespace tilewright
