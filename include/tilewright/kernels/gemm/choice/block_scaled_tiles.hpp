// SPDX-License-Identifier: MIT
// Tiles of block-scaled GEMMs on AMD Instinct GPUs, of which a kernel can be compiled for each, and which of them suits
// a problem.
#pragma once

#include <tilewright/kernels/gemm/choice/cdna_gemm_model.hpp>
#include <tilewright/kernels/gemm/scaled/block_scaled_pipeline.hpp>
#include <tilewright/kernels/gemm/scaled/block_scaled_stages.hpp>

namespace tilewright {

/// Rows and columns of C of a block, which has 128 of k, and its waves along them.
struct block_scaled_tile {
  index_t m = 128, n = 128;          ///< multiples of 16; n divides 128, which have one scale of B
  index_t waves_m = 2, waves_n = 2;  ///< of the block
  index_t stages = 1;                ///< in LDS; from 2 on copies bypass registers (multi_stage_pipeline)
  index_t ahead = 1;                 ///< tiles in flight to registers, where copies pass them

  /// The block tile, with the target's widest matrix instruction for 8-bit floats that fits a wave's rows and columns.
  template <class Arch>
  TILEWRIGHT_HD constexpr block_tile of_block() const {
    using enum arch::matrix_op;
    const bool is_wide = Arch::value.supports(mfma_16x16x128_b8),
               is_large = m / waves_m % 32 == 0 && n / waves_n % 32 == 0;
    return {m,
            n,
            detail::scale_block,
            waves_m,
            waves_n,
            is_large ? (is_wide ? mfma_32x32x64_b8 : mfma_32x32x16_b8_x2)
                     : (is_wide ? mfma_16x16x128_b8 : mfma_16x16x32_b8_x2)};
  }
  /// Whether the target's LDS holds the stages, and its copies that bypass registers are of 16 bytes for each lane.
  constexpr bool fits(const arch::target& t) const {
    return (m + n) * detail::scale_block * stages <= t.lds_bytes && (stages == 1 || t.supports_direct_to_lds(16));
  }
  /// Clocks of a compute unit's vector units for a tile along k: a fused multiply-add for each accumulator of a thread,
  /// and 16 instructions more, 31 with several instructions of 16 rows or with two waves of more
  /// than one (tests/isa/budgets_grouped.txt and budgets_scaled_tiles.txt). Each takes 4 clocks of one of the 4 SIMDs.
  constexpr index_t vector_clocks() const {
    const index_t rows = m / waves_m;
    return m * n / 64 +
           (rows > 16 && (rows % 32 != 0 || (rows > 32 && waves_m * waves_n == 2)) ? 31 : 16) * waves_m * waves_n;
  }
  /// The kernel as the model sees it; slices of k are added up by the last block of a tile.
  constexpr cdna_gemm_kernel as_cdna_kernel(index_t split_k = 1) const {
    return {.m = m,
            .n = n,
            .k = detail::scale_block,
            .waves = waves_m * waves_n,
            .waves_n = waves_n,
            .element_bits = 8,
            .scale_k = detail::scale_block,
            .stages = stages > 1 ? stages - 1 : ahead,
            .split_k = split_k,
            .split = cdna_split::fix_up,
            .loop = stages > 1 ? cdna_loop::scheduled : cdna_loop::compiled,
            .vector_clocks = vector_clocks(),
            .blocks_per_cu = stages > 1 ? 1 : 0};
  }
};

/// From small M to large; then those whose copies bypass registers.
inline constexpr array<block_scaled_tile, 20> block_scaled_tiles{{
    {16, 32, 1, 2, 1, 4}, {16, 64, 1, 2},       {16, 64, 1, 2, 1, 4}, {16, 128, 1, 2},      {32, 64, 1, 4},
    {32, 128, 1, 4},      {48, 32, 1, 2, 1, 2}, {48, 128, 1, 4},      {48, 64, 1, 2, 1, 2}, {64, 64, 2, 2},
    {64, 128, 1, 2},      {64, 128, 2, 2},      {80, 128, 1, 4},      {96, 128, 2, 2},      {128, 64, 2, 2},
    {128, 128, 2, 2},     {256, 128, 4, 2},     {128, 128, 2, 2, 2},  {192, 128, 4, 2, 2},  {256, 128, 4, 2, 2},
}};

/// The policy of a tile, for 8-bit floats T.
template <class Arch, class T, index_t Vector, block_scaled_tile Tile>
struct gemm_block_scaled_tile
    : block_scaled<gemm_policy<Arch, T, operand_major::k, operand_major::k, Vector, Tile.template of_block<Arch>(),
                               detail::conditional_t<(Tile.stages > 1), multi_stage_pipeline<Tile.stages>,
                                                     detail::default_pipeline>>,
                   Tile.ahead> {};

/// The tile, its number in block_scaled_tiles, with the shortest predicted time, and slices of k: those of the
/// arguments, or with split_k = 0 those that suit. Groups are not split; they are taken to be of equal length. Tiles
/// whose stages do not fit LDS are left out, and those whose copies bypass registers where memory does not allow
/// vectors of 16 bytes (`vector`: elements that it allows), or with groups. stream_k: with split_k = 0 stream_k_gemm
/// may be chosen, else split_k is the number of its blocks.
constexpr cdna_gemm_choice choose_block_scaled_tile(const arch::cdna_gpu& gpu, const block_scaled_args& g,
                                                    index_t vector = 16, bool stream_k = false) {
  array<cdna_gemm_kernel, block_scaled_tiles.size()> kernels{};
  array<index_t, block_scaled_tiles.size()> numbers{};
  index_t count = 0;
  for (index_t i = 0; i < block_scaled_tiles.size(); ++i) {
    const block_scaled_tile& t = block_scaled_tiles[i];
    if (!t.fits(*gpu.isa) || (t.stages > 1 && (vector < 16 || g.groups > 0))) continue;
    kernels[count] = t.as_cdna_kernel(max(g.split_k, 1));
    kernels[count].stream_k = stream_k && g.split_k > 0;
    if (kernels[count].stream_k && !kernels[count].fits_stream_k()) continue;
    numbers[count++] = i;
  }
  const index_t groups = max(g.groups, 1);
  const long_index_t m = ceil_div(g.m, groups), problems = long_index_t(groups) * g.batch;
  cdna_gemm_choice best;
  if (g.split_k == 0 && g.groups == 0) {
    best = choose_gemm(gpu, kernels.data(), count, m, g.n, g.k, true, problems, stream_k);
  } else {
    for (index_t i = 0; i < count; ++i) {
      const cdna_gemm_time time = predict_gemm(gpu, kernels[i], m, g.n, g.k, {}, problems);
      if (i == 0 || time.us < best.time.us) best = {i, kernels[i].split_k, stream_k && g.split_k > 0, time};
    }
  }
  best.kernel = numbers[best.kernel];
  return best;
}

}  // namespace tilewright
