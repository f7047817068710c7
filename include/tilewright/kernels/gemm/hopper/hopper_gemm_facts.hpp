// SPDX-License-Identifier: MIT
// What the host must know of a Hopper GEMM kernel: its tile, operands and elements, as values.
#pragma once

#include <tilewright/core/arch/matrix_instruction.hpp>
#include <tilewright/kernels/gemm/check_gemm.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_gemm_lds.hpp>

namespace tilewright {

/// Elements and orders of A, B and C, as they are given.
struct hopper_gemm_operands {
  arch::matrix_element element = arch::matrix_element::f16, result = arch::matrix_element::f16;  ///< of A and B; of C
  bool a_along_k = true, b_along_k = true;  ///< contiguous along k, else along m or n

  /// Of A or B.
  TILEWRIGHT_HD constexpr index_t element_bytes() const { return arch::bytes_of(element); }
  /// Of C.
  TILEWRIGHT_HD constexpr index_t result_bytes() const { return arch::bytes_of(result); }
  friend constexpr bool operator==(const hopper_gemm_operands&, const hopper_gemm_operands&) = default;
};

namespace detail {

/// LDS of a tile's block. scale_bytes: of a stage.
TILEWRIGHT_HD constexpr hopper_gemm_lds lds_of(const hopper_gemm_tile& t, const hopper_gemm_operands& o,
                                               index_t scale_bytes = 0) {
  return {.tile = t,
          .a = {t.m, o.element_bytes(), t.swap_ab ? o.b_along_k : o.a_along_k},
          .b = {t.n, o.element_bytes(), t.swap_ab ? o.a_along_k : o.b_along_k},
          .result_bytes = o.result_bytes(),
          .scale_bytes = scale_bytes};
}

/// A kernel of a tile, for check() and prepare() of any.
struct hopper_gemm_facts {
  hopper_gemm_lds lds;
  hopper_gemm_operands operands;
  bool can_split_all_tiles =
      true;  // whether gemm_args::split_k may be more than 1: no groups, products, scales, ping-pong

  TILEWRIGHT_HD constexpr const hopper_gemm_tile& tile() const { return lds.tile; }
  /// Whether the tile is sound and its stages and slots fit in LDS, with layouts that wgmma and TMA have.
  TILEWRIGHT_HD constexpr bool fits() const { return has_layouts() && fits_in_lds(); }
  /// Whether wgmma and TMA have the layouts of A, B and C in LDS, which do not depend on clusters.
  TILEWRIGHT_HD constexpr bool has_layouts() const {
    return lds.a.is_sound() && lds.b.is_sound() && is_tma_swizzle(lds.slot_layout());
  }
  /// Whether the tile is sound and its stages and slots fit in LDS.
  TILEWRIGHT_HD constexpr bool fits_in_lds() const {
    const hopper_gemm_tile& t = lds.tile;
    const bool halves_fit = t.products == 1 || lds.b.k_is_contiguous || t.result_n() % lds.b.k() == 0;
    return t.is_sound() && halves_fit && lds.num_stages() >= 2 && lds.plan().bytes <= arch::sm90::value.lds_bytes &&
           lds.stage_bytes() % 1024 == 0 && 8 * lds.num_barriers() <= hopper_gemm_lds::barrier_bytes;
  }
  constexpr checked_gemm checked() const {
    return {.tile_m = lds.tile.m,
            .tile_n = lds.tile.n,
            .tile_k = lds.a.k(),
            .a_along_k = operands.a_along_k,
            .b_along_k = operands.b_along_k,
            .element_bytes = operands.element_bytes(),
            .result_bytes = operands.result_bytes(),
            .vector = 16 / operands.element_bytes(),
            .products = lds.tile.products};
  }
};

/// Of a kernel without groups and scales.
TILEWRIGHT_HD constexpr hopper_gemm_facts facts_of(const hopper_gemm_tile& t, const hopper_gemm_operands& o) {
  return {lds_of(t, o), o, !t.ping_pong && t.products == 1};
}

}  // namespace detail

}  // namespace tilewright
