// SPDX-License-Identifier: MIT
// The choices that make a GEMM kernel, and good ones for each target.
#pragma once

#include <tilewright/arch/target.hpp>
#include <tilewright/gemm/operand_copy.hpp>
#include <tilewright/lds/layout_solver.hpp>
#include <tilewright/mma/block_tile.hpp>

#include <type_traits>

namespace tilewright {

struct double_buffered_pipeline;
struct single_buffered_pipeline;

/// The block tile that a target's kernels use by default, for 16-bit elements.
template <class Arch>
TILEWRIGHT_HD constexpr block_tile default_block_tile() {
  using enum arch::matrix_op;
  if constexpr (Arch::value.supports(mfma_32x32x16)) {
    return {128, 128, 64, 2, 2, mfma_32x32x16};
  } else if constexpr (Arch::value.supports(mfma_32x32x8_x2)) {
    return {128, 128, 64, 2, 2, mfma_32x32x8_x2};
  } else if constexpr (Arch::value.supports(wmma_16x16x16_gfx11)) {
    return {128, 128, 64, 2, 4, wmma_16x16x16_gfx11};
  } else if constexpr (Arch::value.supports(wmma_16x16x16_gfx12)) {
    return {128, 128, 64, 2, 4, wmma_16x16x16_gfx12};
  } else {
    return {128, 128, 32, 2, 4, mma_m16n8k16_x2};
  }
}

/// single_buffered_pipeline on AMD GPUs where k of the block tile is at least two steps of the matrix instruction, else
/// double_buffered_pipeline.
struct default_pipeline;

/// Everything that gemm_kernel must know at compile time. Name a struct that derives from it, and the kernel's symbol stays short.
/// Vector: elements that are moved at once where memory allows; a kernel with Vector > 1 needs lengths along contiguous dimensions,
/// leading dimensions and pointers that are multiples of it.
template <class Arch, class T, operand_major AMajor, operand_major BMajor, index_t Vector,
          block_tile Tile = default_block_tile<Arch>(), class Pipeline = default_pipeline>
struct gemm_policy {
  static_assert(Arch::value.supports(Tile.op), "gemm_policy: the target does not have this matrix instruction");
  static_assert(Tile.is_sound(),
                "gemm_policy: the block tile is not a whole number of matrix instructions for each wave");

  using arch = Arch;
  using element_type = T;
  static constexpr block_tile tile = Tile;
  static constexpr operand_major a_major = AMajor;
  static constexpr operand_major b_major = BMajor;
  static constexpr index_t vector = Vector;
  /// Elements along k that stay together in LDS.
  static constexpr index_t k_pack = 8;
  static constexpr bool prefers_single_buffer = tilewright::arch::is_amd(Arch::value) && num_k_steps(Tile) > 1;
  using pipeline =
      std::conditional_t<!std::is_same_v<Pipeline, default_pipeline>, Pipeline,
                         std::conditional_t<prefers_single_buffer, single_buffered_pipeline, double_buffered_pipeline>>;
  /// What a thread may have while two waves, or as many as the block has more, share a SIMD.
  static constexpr index_t registers_per_thread = Arch::value.max_vgprs / max(2, Tile.num_waves() / 4);
  static_assert(is_power_of_two(Tile.m) && is_power_of_two(Tile.n) && is_power_of_two(Tile.k),
                "gemm_policy: m, n and k of the block tile must be powers of two");
  static_assert(operand_copy_fits(AMajor, Tile.m, Tile.k, Tile.num_waves(), Arch::value.wave_size, k_pack, k_pack) &&
                    operand_copy_fits(BMajor, Tile.n, Tile.k, Tile.num_waves(), Arch::value.wave_size, k_pack, k_pack),
                "gemm_policy: the block tile has less than 8 elements of each operand for each thread; use fewer waves "
                "or a larger block tile");

  static constexpr distribution_encoding a_copy =
      operand_copy_encoding(AMajor, Tile.m, Tile.k, Tile.num_waves(), Arch::value.wave_size, k_pack, k_pack);
  static constexpr distribution_encoding b_copy =
      operand_copy_encoding(BMajor, Tile.n, Tile.k, Tile.num_waves(), Arch::value.wave_size, k_pack, k_pack);

  /// How the operand tiles lie in LDS: chosen so that writing and reading them is free of bank conflicts where that is possible.
  static constexpr lds_layout_choice a_layout =
      number<choose_lds_layout<Arch>(lds_tile{Tile.m, Tile.k, sizeof(T)}, lds_use{a_copy, lds_access_kind::write},
                                     lds_use{a_encoding(Tile, true), fragment_access(Tile.op)})>::value;
  static constexpr lds_layout_choice b_layout =
      number<choose_lds_layout<Arch>(lds_tile{Tile.n, Tile.k, sizeof(T)}, lds_use{b_copy, lds_access_kind::write},
                                     lds_use{b_encoding(Tile, true), fragment_access(Tile.op)})>::value;
};

}  // namespace tilewright
