// SPDX-License-Identifier: MIT
// Block tiles of AMD GPUs for copies to LDS without registers, and how many of them LDS holds.
#pragma once

#include <tilewright/kernels/gemm/gemm_policy.hpp>
#include <tilewright/kernels/gemm/portable/multi_stage_pipeline.hpp>

namespace tilewright {

namespace detail {

/// Bytes along k of a block tile, and buffers in LDS.
struct direct_tile_shape {
  index_t row_bytes, stages;
};

/// For m x n results. Rows of 128 bytes, as a cache line has, but 64 where LDS has no room for two tiles or, with
/// matrix instructions that take 64 bytes of a row, the operands of two steps along k would fill the registers.
template <class Arch, class T>
TILEWRIGHT_HD constexpr direct_tile_shape direct_shape(index_t m, index_t n) {
  const block_tile t = default_block_tile<Arch, T>();
  const bool is_large = m * n > 128 * 128, short_steps = arch::describe(t.op).k * index_t(sizeof(T)) < 64;
  const index_t row_bytes =
      Arch::value.lds_bytes >= 2 * (m + n) * 128 + 32 * 1024 && (short_steps || !is_large) ? 128 : 64;
  return {row_bytes, min(is_large ? 4 : 3 + (row_bytes == 64), Arch::value.lds_bytes / ((m + n) * row_bytes))};
}

}  // namespace detail

/// The block tile of that shape, with the default tile's matrix instruction.
template <class Arch, class T>
TILEWRIGHT_HD constexpr block_tile direct_tile(index_t m, index_t n, index_t waves_m, index_t waves_n) {
  return {m,       n,       detail::direct_shape<Arch, T>(m, n).row_bytes / index_t(sizeof(T)),
          waves_m, waves_n, default_block_tile<Arch, T>().op};
}

namespace detail {

/// Whether 256 x 256 results and the operands of two steps along k leave registers for a tile in flight to LDS, so
/// that single_buffered_pipeline has what it needs: not so with matrix instructions that take 64 bytes of a row.
template <class Arch, class T>
inline constexpr bool large_tile_fits_registers =
    arch::describe(default_block_tile<Arch, T>().op).k * index_t(sizeof(T)) < 64;

}  // namespace detail

/// Policies for CDNA that copy to LDS without registers; Vector as multi_stage_pipeline wants it there.
template <class Arch, class T, operand_major AMajor, operand_major BMajor, index_t Vector>
struct gemm_direct_256x256 : gemm_policy<Arch, T, AMajor, BMajor, Vector, direct_tile<Arch, T>(256, 256, 2, 4),
                                         multi_stage_pipeline<detail::direct_shape<Arch, T>(256, 256).stages>> {
  static constexpr const char* name = "gemm_direct_256x256";  ///< in reports and tuning files
};
template <class Arch, class T, operand_major AMajor, operand_major BMajor, index_t Vector>
struct gemm_direct_128x128 : gemm_policy<Arch, T, AMajor, BMajor, Vector, direct_tile<Arch, T>(128, 128, 2, 2),
                                         multi_stage_pipeline<detail::direct_shape<Arch, T>(128, 128).stages>> {
  static constexpr const char* name = "gemm_direct_128x128";  ///< in reports and tuning files
};

}  // namespace tilewright
