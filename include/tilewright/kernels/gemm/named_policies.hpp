// SPDX-License-Identifier: MIT
// GEMM policies that have names: block tiles and pipelines.
#pragma once

#include <tilewright/core/base/tuple.hpp>
#include <tilewright/kernels/gemm/portable/direct_tile.hpp>
#include <tilewright/kernels/gemm/portable/one_wave_per_simd_pipeline.hpp>
#include <tilewright/kernels/gemm/portable/ping_pong_pipeline.hpp>

namespace tilewright {

namespace detail {

/// The default tile's instruction and k with other m, n and waves.
template <class Arch, class T>
TILEWRIGHT_HD constexpr block_tile resized_tile(index_t m, index_t n, index_t waves_m, index_t waves_n) {
  const block_tile t = default_block_tile<Arch, T>();
  return {m, n, t.k, waves_m, waves_n, t.op};
}

/// 256 x 256, two of which fit into LDS: with the default's 128 bytes of each row along k, or half of them.
template <class Arch, class T>
TILEWRIGHT_HD constexpr block_tile two_buffers_tile(index_t waves_m, index_t waves_n) {
  const block_tile t = default_block_tile<Arch, T>();
  return {256, 256, Arch::value.lds_bytes >= 2 * 512 * 128 ? t.k : t.k / 2, waves_m, waves_n, t.op};
}

/// Without registers for single_buffered_pipeline: the tile of gemm_direct_256x256 and, where memory allows vectors of
/// 16 bytes, its pipeline.
template <class Arch, class T, operand_major AMajor, operand_major BMajor, index_t Vector>
using policy_256x256 = detail::conditional_t<
    large_tile_fits_registers<Arch, T>,
    gemm_policy<Arch, T, AMajor, BMajor, Vector, resized_tile<Arch, T>(256, 256, 2, 4)>,
    gemm_policy<Arch, T, AMajor, BMajor, Vector, direct_tile<Arch, T>(256, 256, 2, 4),
                detail::conditional_t<Vector * sizeof(T) % 16 == 0,
                                      multi_stage_pipeline<direct_shape<Arch, T>(256, 256).stages>, default_pipeline>>>;

/// For a few rows: 16 x 64 with 256 bytes along k, a wave for each 16 columns.
template <class Arch>
TILEWRIGHT_HD constexpr block_tile small_m_tile() {
  using enum arch::matrix_op;
  return {16, 64, 128, 1, 4, Arch::value.supports(mfma_16x16x32) ? mfma_16x16x32 : mfma_16x16x16_x2};
}
}  // namespace detail

/// Policies by the size of their tile, with the pipeline that suits it, and by the name of their pipeline. Parameters
/// are those of gemm_policy; named_policies says which of them a target has.
template <class Arch, class T, operand_major AMajor, operand_major BMajor, index_t Vector>
struct gemm_256x256 : detail::policy_256x256<Arch, T, AMajor, BMajor, Vector> {
  static constexpr const char* name = "gemm_256x256";  ///< in reports and tuning files
};
template <class Arch, class T, operand_major AMajor, operand_major BMajor, index_t Vector>
struct gemm_ping_pong
    : gemm_policy<Arch, T, AMajor, BMajor, Vector, detail::two_buffers_tile<Arch, T>(2, 4), ping_pong_pipeline> {
  static constexpr const char* name = "gemm_ping_pong";  ///< in reports and tuning files
};
template <class Arch, class T, operand_major AMajor, operand_major BMajor, index_t Vector>
struct gemm_one_wave : gemm_policy<Arch, T, AMajor, BMajor, Vector, detail::two_buffers_tile<Arch, T>(2, 2),
                                   one_wave_per_simd_pipeline> {
  static constexpr const char* name = "gemm_one_wave";  ///< in reports and tuning files
};
/// For NVIDIA GPUs: eight waves of 64 x 64, and as many stages of multi_stage_pipeline as LDS holds, up to four (sm_90;
/// sm_80: three). Elements have 16 bits, and a Vector 16 bytes. 132 SMs then have as many rows of A as
/// columns of B.
template <class Arch, class T, operand_major AMajor, operand_major BMajor, index_t Vector>
struct gemm_128x256
    : gemm_policy<Arch, T, AMajor, BMajor, Vector, block_tile{128, 256, 64, 2, 4, default_block_tile<Arch, T>().op}> {
  static constexpr const char* name = "gemm_128x256";                                 ///< in reports and tuning files
  static constexpr grid_order order{.group_rows = 16, .dies = Arch::value.num_dies};  ///< tiles in groups that share L2
};
template <class Arch, class T, operand_major AMajor, operand_major BMajor, index_t Vector>
struct gemm_128x128 : gemm_policy<Arch, T, AMajor, BMajor, Vector, default_block_tile<Arch, T>()> {
  static constexpr const char* name = "gemm_128x128";  ///< in reports and tuning files
};
template <class Arch, class T, operand_major AMajor, operand_major BMajor, index_t Vector>
struct gemm_128x64 : gemm_policy<Arch, T, AMajor, BMajor, Vector, detail::resized_tile<Arch, T>(128, 64, 2, 2)> {
  static constexpr const char* name = "gemm_128x64";  ///< in reports and tuning files
};
template <class Arch, class T, operand_major AMajor, operand_major BMajor, index_t Vector>
struct gemm_64x64 : gemm_policy<Arch, T, AMajor, BMajor, Vector, detail::resized_tile<Arch, T>(64, 64, 2, 2)> {
  static constexpr const char* name = "gemm_64x64";  ///< in reports and tuning files
};
/// For CDNA, 16-bit operands that are contiguous along k, and few rows: four stages where copies to LDS of 16 bytes
/// bypass registers.
template <class Arch, class T, operand_major AMajor, operand_major BMajor, index_t Vector>
struct gemm_16x64 : gemm_policy<Arch, T, AMajor, BMajor, Vector, detail::small_m_tile<Arch>(),
                                detail::conditional_t<Arch::value.supports_direct_to_lds(16), multi_stage_pipeline<4>,
                                                      single_buffered_pipeline>> {
  static constexpr const char* name = "gemm_16x64";  ///< in reports and tuning files
};

namespace detail {
/// Whether a target and its elements have gemm_one_wave: 8-bit elements want more registers where tiles are long, or
/// not contiguous along k.
template <class Arch, class T, operand_major AMajor, operand_major BMajor>
inline constexpr bool has_one_wave_tile = sizeof(T) > 1 || (Arch::value.lds_bytes < 2 * 512 * 128 &&
                                                            AMajor == operand_major::k && BMajor == operand_major::k);
}  // namespace detail

/// The policies that a target has names for: by size, the largest tile first, then other pipelines for the largest,
/// then those that docs/amd_predictions.md asks for: few rows, and copies of 16 bytes that bypass registers. 256 x 256
/// needs the registers of CDNA, 128 x 256 copies without registers.
template <class Arch, class T, operand_major AMajor, operand_major BMajor, index_t Vector>
constexpr auto named_policies() {
  using tile_128x128 = gemm_128x128<Arch, T, AMajor, BMajor, Vector>;
  using tile_128x64 = gemm_128x64<Arch, T, AMajor, BMajor, Vector>;
  using tile_64x64 = gemm_64x64<Arch, T, AMajor, BMajor, Vector>;
  if constexpr (Arch::value.isa == arch::instruction_set::cdna) {
    using tile_256x256 = gemm_256x256<Arch, T, AMajor, BMajor, Vector>;
    using ping_pong = gemm_ping_pong<Arch, T, AMajor, BMajor, Vector>;
    constexpr bool whole_rows = AMajor == operand_major::k && BMajor == operand_major::k && Vector * sizeof(T) == 16;
    if constexpr (sizeof(T) == 2 && whole_rows) {
      using one_wave = gemm_one_wave<Arch, T, AMajor, BMajor, Vector>;
      using tile_16x64 = gemm_16x64<Arch, T, AMajor, BMajor, Vector>;
      if constexpr (Arch::value.supports_direct_to_lds(16)) {
        return tuple<tile_256x256, tile_128x128, tile_128x64, tile_64x64, ping_pong, one_wave, tile_16x64,
                     gemm_direct_128x128<Arch, T, AMajor, BMajor, Vector>>{};
      } else {
        return tuple<tile_256x256, tile_128x128, tile_128x64, tile_64x64, ping_pong, one_wave, tile_16x64>{};
      }
    } else if constexpr (detail::has_one_wave_tile<Arch, T, AMajor, BMajor>) {
      return tuple<tile_256x256, tile_128x128, tile_128x64, tile_64x64, ping_pong,
                   gemm_one_wave<Arch, T, AMajor, BMajor, Vector>>{};
    } else {
      return tuple<tile_256x256, tile_128x128, tile_128x64, tile_64x64, ping_pong>{};
    }
  } else if constexpr (Arch::value.isa == arch::instruction_set::ptx && Vector * sizeof(T) == 16) {
    return tuple<gemm_128x256<Arch, T, AMajor, BMajor, Vector>, tile_128x128, tile_128x64, tile_64x64>{};
  } else {
    return tuple<tile_128x128, tile_128x64, tile_64x64>{};
  }
}

}  // namespace tilewright
