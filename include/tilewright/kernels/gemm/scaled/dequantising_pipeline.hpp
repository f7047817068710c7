// SPDX-License-Identifier: MIT
// The loop over k that decodes narrow operands between global memory and LDS, for every target, and its policy.
#pragma once

#include <tilewright/block/operands/narrow_formats.hpp>
#include <tilewright/block/operands/narrow_tiles.hpp>
#include <tilewright/block/operands/operand_windows.hpp>
#include <tilewright/kernels/gemm/gemm_policy.hpp>

namespace tilewright {

namespace detail {

/// One stage in LDS; the next tile is in flight to registers while one is multiplied. Several blocks share a compute
/// unit, so that one decodes while others multiply.
///
///   matrix |                   |         | t          |         |
///   LDS    | write t, decoded  | barrier | read t     | barrier |
///   global |                             | load t + 1 |
template <class ATiles, class BTiles>
struct dequantising_pipeline {
  static constexpr index_t num_stages = 1;

  static constexpr const char* check(const narrow_args&) { return nullptr; }

  /// c += A B^T for the matrices' rows from origin on and `num_tiles` tiles along k from number `first` on.
  template <class Policy, class C>
  TILEWRIGHT_HD static void run(static_distributed_tensor<float, C>& c, const narrow_matrix& a_matrix,
                                const narrow_matrix& b_matrix, const multi_index<2>& origin, index_t first,
                                index_t num_tiles, exec::lds_pointer lds) {
    const operand_windows<Policy> windows(lds);
    ATiles a(a_matrix, origin[0]);
    BTiles b(b_matrix, origin[1]);
    const index_t last = ceil_div(a_matrix.k, Policy::tile.k) - 1, end = first + num_tiles;
    a.load(first, first == last);
    b.load(first, first == last);
    TILEWRIGHT_UNROLL(1)
    for (index_t t = first; t < end; ++t) {
      windows.store_a(a.decode(t, t == last), 0);
      windows.store_b(b.decode(t, t == last), 0);
      exec::block_sync();
      if (t + 1 < end) {
        a.load(t + 1, t + 1 == last);
        b.load(t + 1, t + 1 == last);
      }
      block_gemm<Policy::tile>(c, windows.a_read(), windows.b_read());
      exec::block_sync();
    }
  }
};

/// 16 columns or rows for each wave, or 128 x 128.
template <class Arch, class T>
TILEWRIGHT_HD constexpr block_tile dequantising_tile(index_t m) {
  using enum arch::matrix_op;
  const block_tile large = default_block_tile<Arch, T, 8>();
  if (m > 32) return large;
  if (Arch::value.isa == arch::instruction_set::cdna)
    return {16, 64, 128, 1, 4, Arch::value.supports(mfma_16x16x32) ? mfma_16x16x32 : mfma_16x16x16_x2};
  return {16, 64, 64, 1, 4, large.op};
}

}  // namespace detail

/// A policy of narrow_gemm that every target has. T: what elements are decoded to and multiplied in, half_t or
/// bfloat16_t. AFormat and BFormat: operand_formats, or plain_format<T>; A's has no zero points, and its code 0 is the
/// number 0. Vector: elements of C that are moved at once: 1, or 8 where n, ldc and addresses allow it.
template <class Arch, class T, class AFormat, class BFormat, block_tile Tile = detail::dequantising_tile<Arch, T>(128),
          index_t Vector = 1>
struct dequantising_policy : detail::gemm_choices<Arch, T>,
                             operand_policy<Arch, T, operand_major::k, operand_major::k, 8, Tile, false> {
  static_assert(sizeof(T) == 2, "dequantising_policy: elements are decoded to half_t or bfloat16_t");
  static_assert(OperandFormat<BFormat> && !AFormat::has_zero_points,
                "dequantising_policy: formats derive from operand_format and define decode; A's has no zero points");
  using a_format = AFormat;  ///< of A in memory
  using b_format = BFormat;  ///< of B in memory
  using args_type = detail::conditional_t<detail::is_plain<AFormat>, narrow_args, scaled_args>;
  using a_tiles = narrow_tiles<Arch, T, AFormat, Tile, Tile.m>;
  using b_tiles = narrow_tiles<Arch, T, BFormat, Tile, Tile.n>;
  using pipeline = detail::dequantising_pipeline<a_tiles, b_tiles>;
  static constexpr index_t vector = Vector;  ///< elements of an access to C
  /// Who writes which elements of A's tile to LDS: those it decoded.
  static constexpr distribution_encoding a_copy = a_tiles::distribution::encoding;
  /// The same of B's tile.
  static constexpr distribution_encoding b_copy = b_tiles::distribution::encoding;
  /// How A's tile lies in LDS.
  static constexpr lds_layout_choice a_layout =
      number<detail::operand_layout<Arch, T>(Tile, false, Tile.m, a_copy, dequantising_policy::a_read)>::value;
  /// The same of B's tile.
  static constexpr lds_layout_choice b_layout =
      number<detail::operand_layout<Arch, T>(Tile, false, Tile.n, b_copy, dequantising_policy::b_read)>::value;
  static constexpr tensor_graph a_lds =
      number<detail::operand_graph(a_layout.layout, false)>::value;  ///< from (row, k)
  static constexpr tensor_graph b_lds =
      number<detail::operand_graph(b_layout.layout, false)>::value;  ///< from (row, k)
};

}  // namespace tilewright
