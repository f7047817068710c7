// SPDX-License-Identifier: MIT
// Tiles of block-scaled GEMMs on AMD Instinct GPUs, of which a kernel can be compiled for each, and which of them suits
// a problem.
#pragma once

#include <tilewright/kernels/gemm/choice/cdna_gemm_model.hpp>
#include <tilewright/kernels/gemm/scaled/block_scaled_pipeline.hpp>

namespace tilewright {

/// Rows and columns of C of a block, which has 128 of k, and its waves along them.
struct block_scaled_tile {
  index_t m = 128, n = 128;          ///< powers of two; n is at most 128, which have one scale of B
  index_t waves_m = 2, waves_n = 2;  ///< of the block

  /// The block tile, with the target's widest matrix instruction for 8-bit floats that fits a wave's rows and columns.
  template <class Arch>
  TILEWRIGHT_HD constexpr block_tile of_block() const {
    using enum arch::matrix_op;
    const bool is_wide = Arch::value.supports(mfma_16x16x128_b8), is_large = m / waves_m >= 32 && n / waves_n >= 32;
    return {m,
            n,
            detail::scale_block,
            waves_m,
            waves_n,
            is_large ? (is_wide ? mfma_32x32x64_b8 : mfma_32x32x16_b8_x2)
                     : (is_wide ? mfma_16x16x128_b8 : mfma_16x16x32_b8_x2)};
  }
  /// Clocks of a compute unit's vector units for a tile along k: a fused multiply-add for each accumulator of a thread,
  /// and 16 instructions more (tests/isa/budgets_grouped.txt). Each takes 4 clocks of one of the 4 SIMDs.
  constexpr index_t vector_clocks() const { return m * n / 64 + 16 * waves_m * waves_n; }
  /// The kernel as the model sees it; slices of k are added up by the last block of a tile.
  constexpr cdna_gemm_kernel as_cdna_kernel(index_t split_k = 1) const {
    return {.m = m,
            .n = n,
            .k = detail::scale_block,
            .waves = waves_m * waves_n,
            .waves_n = waves_n,
            .element_bits = 8,
            .scale_k = detail::scale_block,
            .split_k = split_k,
            .split = cdna_split::fix_up,
            .vector_clocks = vector_clocks()};
  }
};

/// From small M to large.
inline constexpr array<block_scaled_tile, 9> block_scaled_tiles{{
    {16, 64, 1, 2},
    {16, 128, 1, 2},
    {32, 64, 1, 4},
    {32, 128, 1, 4},
    {64, 64, 2, 2},
    {64, 128, 2, 2},
    {128, 64, 2, 2},
    {128, 128, 2, 2},
    {256, 128, 4, 2},
}};

/// The tile, its number in block_scaled_tiles, with the shortest predicted time, and slices of k: those of the
/// arguments, or with split_k = 0 those that suit. Groups are not split; they are taken to be of equal length.
constexpr cdna_gemm_choice choose_block_scaled_tile(const arch::cdna_gpu& gpu, const block_scaled_args& g) {
  array<cdna_gemm_kernel, block_scaled_tiles.size()> kernels{};
  for (index_t i = 0; i < kernels.size(); ++i) kernels[i] = block_scaled_tiles[i].as_cdna_kernel(max(g.split_k, 1));
  const index_t groups = max(g.groups, 1);
  const long_index_t m = ceil_div(g.m, groups), problems = long_index_t(groups) * g.batch;
  if (g.split_k == 0 && g.groups == 0)
    return choose_gemm(gpu, kernels.data(), kernels.size(), m, g.n, g.k, true, problems);
  cdna_gemm_choice best;
  for (index_t i = 0; i < kernels.size(); ++i) {
    const cdna_gemm_time time = predict_gemm(gpu, kernels[i], m, g.n, g.k, {}, problems);
    if (i == 0 || time.us < best.time.us) best = {i, kernels[i].split_k, time};
  }
  return best;
}

}  // namespace tilewright
