// SPDX-License-Identifier: MIT
// The family of tiles of GEMMs on AMD Instinct GPUs, of which a kernel can be compiled for each: small M, and deep
// pipelines of copies that bypass registers.
#pragma once

#include <tilewright/core/arch/occupancy.hpp>
#include <tilewright/kernels/gemm/choice/cdna_gemm_model.hpp>
#include <tilewright/kernels/gemm/gemm_policy.hpp>
#include <tilewright/kernels/gemm/portable/multi_stage_pipeline.hpp>

namespace tilewright {

/// A tile of C and k of a block, for 16-bit operands that are contiguous along k, in vectors of 16 bytes.
struct cdna_tile {
  index_t m = 128, n = 128, k = 64;  ///< elements
  index_t waves_m = 2, waves_n = 2;  ///< of the block, along m and n
  index_t stages = 2;                ///< in LDS, of multi_stage_pipeline

  /// The block tile, with the target's widest matrix instruction that fits a wave's rows and columns.
  template <class Arch>
  TILEWRIGHT_HD constexpr block_tile of_block() const {
    using enum arch::matrix_op;
    const bool is_wide = Arch::value.supports(mfma_16x16x32), is_large = m / waves_m % 32 == 0 && n / waves_n % 32 == 0;
    return {
        m,       n,
        k,       waves_m,
        waves_n, is_large ? (is_wide ? mfma_32x32x16 : mfma_32x32x8_x2) : (is_wide ? mfma_16x16x32 : mfma_16x16x16_x2)};
  }
  /// The kernel as the model sees it: LDS accesses have no conflicts (require_conflict_free_gemm), slices of k are
  /// added up by the last block of a tile.
  constexpr cdna_gemm_kernel as_cdna_kernel(const arch::target& t, index_t split_k = 1) const {
    const index_t waves = waves_m * waves_n, threads = 64 * waves;
    const index_t registers = m * n / threads + 2 * (m / waves_m + n / waves_n) * 16 / 64 + 48;
    return {.m = m,
            .n = n,
            .k = k,
            .waves = waves,
            .waves_n = waves_n,
            .stages = stages - 1,
            .split_k = split_k,
            .split = cdna_split::fix_up,
            .loop = cdna_loop::scheduled,
            .blocks_per_cu = max(1, arch::resident_blocks(t, (m + n) * k * 2 * stages, threads, registers))};
  }
  friend constexpr bool operator==(const cdna_tile&, const cdna_tile&) = default;
};

/// The policy of a tile. Parameters as those of gemm_policy; T has 16 bits, a Vector 16 bytes.
template <class Arch, class T, operand_major AMajor, operand_major BMajor, index_t Vector, cdna_tile Tile>
struct gemm_cdna_tile
    : gemm_policy<Arch, T, AMajor, BMajor, Vector, Tile.template of_block<Arch>(), multi_stage_pipeline<Tile.stages>> {
};

/// The tiles that named_policies() do not have, for targets whose copies to LDS are of 16 bytes for each lane (gfx950),
/// and of 4 bytes (gfx942).
inline constexpr array<cdna_tile, 16> gfx950_tiles{{
    {16, 64, 64, 1, 2, 8},
    {16, 64, 256, 1, 4, 3},
    {32, 64, 128, 1, 4, 4},
    {32, 128, 64, 1, 4, 4},
    {48, 64, 128, 1, 4, 4},
    {64, 64, 64, 2, 2, 4},
    {64, 128, 64, 2, 2, 4},
    {96, 128, 64, 2, 2, 4},
    {128, 64, 64, 2, 2, 4},
    {128, 160, 64, 4, 1, 3},
    {128, 192, 64, 2, 2, 3},
    {128, 256, 64, 2, 4, 2},
    {256, 128, 64, 4, 2, 2},
    {256, 160, 64, 4, 1, 3},
    {256, 192, 64, 2, 2, 2},
    {256, 256, 64, 2, 2, 2},
}};
inline constexpr array<cdna_tile, 4> gfx942_tiles{{
    {16, 64, 64, 1, 2, 4},
    {32, 64, 64, 1, 4, 4},
    {64, 64, 64, 2, 2, 3},
    {128, 128, 32, 2, 2, 4},
}};

}  // namespace tilewright
