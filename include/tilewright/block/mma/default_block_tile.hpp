// SPDX-License-Identifier: MIT
// The block tile, and with it the matrix instruction, that a target's kernels use by default.
#pragma once

#include <tilewright/block/mma/block_tile.hpp>
#include <tilewright/core/arch/matrix_element.hpp>
#include <tilewright/core/arch/target.hpp>

namespace tilewright {

/// The block tile that a target's kernels use by default for elements of T: 128 x 128, and along k 128 bytes with MFMA,
/// 64 elements with WMMA, 32 elements on NVIDIA GPUs. There operands that pass through registers, because memory allows
/// narrower vectors than 16 bytes, need more waves.
template <class Arch, class T, index_t Vector = 16 / index_t(sizeof(T))>
TILEWRIGHT_HD constexpr block_tile default_block_tile() {
  using enum arch::matrix_op;
  using arch::matrix_op;
  constexpr arch::matrix_element element = arch::matrix_element_v<T>;
  constexpr index_t k = 128 / index_t(sizeof(T));
  for (const matrix_op op : {mfma_32x32x16, mfma_32x32x8_x2, mfma_32x32x64_b8, mfma_32x32x32_b8, mfma_32x32x16_b8_x2,
                             mfma_32x32x8_b8_x4, mfma_32x32x2_b32_x4}) {
    if (Arch::value.supports(op, element)) return {128, 128, k, 2, 2, op};
  }
  for (const matrix_op op : {wmma_16x16x32_gfx1250, wmma_16x16x64_b8_gfx1250, wmma_16x16x16_gfx11, wmma_16x16x16_gfx12,
                             wmma_16x16x16_b8_gfx11, wmma_16x16x16_b8_x2_gfx12}) {
    if (Arch::value.supports(op, element)) return {128, 128, 64, 2, 4, op};
  }
  return {128, 128, 32, 2, Vector == 16 / index_t(sizeof(T)) ? 2 : 4, mma_m16n8k16_x2};
}

}  // namespace tilewright
