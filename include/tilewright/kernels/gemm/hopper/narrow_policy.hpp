// SPDX-License-Identifier: MIT
// Choices of small-M GEMM with a B in a narrow format: types, rows, what a block streams at once.
#pragma once

#include <tilewright/block/operands/narrow_formats.hpp>
#include <tilewright/core/arch/sm90.hpp>
#include <tilewright/kernels/gemm/epilogue/result_stage.hpp>

namespace tilewright {

/// For small_m_gemm: C (m, n) = A (m, k) B (k, n) for up to Rows (8 or 16) rows of A, with B stored as Format says: see
/// narrow_args. T: of A, half_t or bfloat16_t, contiguous along k. A's rows and B's columns start at multiples of 16
/// bytes. CVector: 4 where C's rows are aligned to 4 elements, else 1.
/// Products with elements of T and accumulators are in float; a group's scale multiplies its sum, so it is not rounded
/// and may exceed T's range. Groups of fewer elements than 16 bytes have (NVFP4) scale the elements in T: exact for
/// e2m1 with e4m3.
template <class T, class Format, index_t Rows = 16, index_t CVector = 4, class Result = T,
          class Epilogue = epilogue::alpha_beta>
struct narrow_policy {
  static_assert(sizeof(T) == 2, "narrow_policy: mma.sync multiplies elements of 16 bits");
  static_assert(OperandFormat<Format>, "narrow_policy: Format derives from operand_format and defines decode");
  static_assert(sizeof(typename Format::word_type) == 4 && (Format::elements == 4 || Format::elements == 8),
                "narrow_policy: a word has 4 bytes, and 4 or 8 elements");
  static_assert(Rows == 8 || Rows == 16, "narrow_policy: Rows is 8 or 16");
  static_assert(CVector == 1 || CVector == 4, "narrow_policy: CVector is 1 or 4");
  using arch = tilewright::arch::sm90;
  using element_type = T;
  using b_element_type = T;  ///< after decoding
  using b_format = Format;   ///< of B in memory
  using result_type = Result;
  using epilogue = Epilogue;
  using args_type = narrow_args;
  static constexpr bool gathers_a = false;                     ///< A's rows are those of C
  static constexpr index_t products = 1;                       ///< of the policy
  static constexpr index_t a_vector = 8;                       ///< elements of an access to A
  static constexpr index_t vector = CVector;                   ///< elements of an access to C
  static constexpr index_t waves = 4;                          ///< of a block, with 32 columns each
  static constexpr index_t column_bytes = 128;                 ///< bytes of a column of B in a stage
  static constexpr index_t stages = 3;                         ///< that a block has in flight or computes with
  static constexpr split_k_kind split_k = split_k_kind::none;  ///< blocks share k by the schedule
  static constexpr operand_major a_major = operand_major::k, b_major = operand_major::k;  ///< both along k
  /// Of a block; k: of a stage.
  static constexpr block_tile tile{Rows, 32 * waves, column_bytes * 8 / Format::bits,
                                   1,    waves,      tilewright::arch::matrix_op::mma_m16n8k16_x2};
  static_assert(Format::group == 0 || Format::group % tile.k == 0 || tile.k % Format::group == 0,
                "narrow_policy: groups divide 128 bytes of a column, or are multiples of them");
};

}  // namespace tilewright
