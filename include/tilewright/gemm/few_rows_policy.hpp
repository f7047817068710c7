// SPDX-License-Identifier: MIT
// Choices of the product of up to 16 rows of A: which lanes load and multiply what, and how sums lie in LDS.
#pragma once

#include <tilewright/arch/sm90.hpp>
#include <tilewright/gemm/result_stage.hpp>

namespace tilewright {

/// For few_rows_gemm: A has up to 16 rows, so the bytes of B decide. AVector, Vector: elements of A, and of B and C,
/// that are moved at once where memory allows; contiguous lengths, leading dimensions and pointers are multiples of
/// them. AVector is 1 where A is contiguous along m.
template <class T, operand_major AMajor, operand_major BMajor, index_t AVector, index_t Vector, class Result = T,
          class Epilogue = epilogue::alpha_beta>
struct few_rows_policy {
  static_assert(sizeof(T) == 2, "few_rows_policy: mma.sync multiplies elements of 16 bits");
  static_assert((Vector == 1 || Vector == 8) && (AVector == 1 || (AVector == 8 && AMajor == operand_major::k)),
                "few_rows_policy: a vector has 1 or 8 elements, and that of A 8 only where A is contiguous along k");
  using arch = tilewright::arch::sm90;
  using element_type = T;
  using b_element_type = T;
  using result_type = Result;
  using epilogue = Epilogue;
  using args_type = gemm_args;
  static constexpr index_t products = 1, a_vector = AVector, vector = Vector, waves = 8;
  static constexpr split_k_kind split_k = split_k_kind::none;
  static constexpr operand_major a_major = AMajor, b_major = BMajor;

  /// What one wave multiplies at once.
  static constexpr block_tile tile{16, 64, 32, 1, 1, tilewright::arch::matrix_op::mma_m16n8k16_x2};
};

namespace detail {

TILEWRIGHT_HD constexpr distribution_encoding one_wave_encoding(std::initializer_list<index_t> rows,
                                                                std::initializer_list<index_t> cols,
                                                                std::initializer_list<rh_id> lanes,
                                                                std::initializer_list<rh_id> registers) {
  distribution_encoding e;
  e.h.push_back({});
  e.h.push_back({});
  e.p.push_back({});
  for (const index_t f : rows) e.h[0].push_back(f);
  for (const index_t f : cols) e.h[1].push_back(f);
  for (const rh_id id : lanes) e.p[0].push_back(id);
  for (const rh_id id : registers) e.y.push_back(id);
  return e;
}

/// Distributions of a wave, for operands as they lie in memory and as they are multiplied. A lane has the place
/// (g, t) = (lane / 4, lane % 4): g is a row of an instruction's operand, t a group of eight neighbours along k.
struct few_rows_lanes {
  /// A (16 x 32) in memory: rows g and g + 8.
  static constexpr distribution_encoding a = one_wave_encoding({2, 8}, {4, 8}, {{1, 1}, {2, 0}}, {{1, 0}, {2, 1}});
  /// B (64 x 32) in memory that is contiguous along k.
  static constexpr distribution_encoding b_along_k =
      one_wave_encoding({8, 8}, {4, 8}, {{1, 1}, {2, 0}}, {{1, 0}, {2, 1}});
  /// B in memory that is contiguous along n: eight neighbours along n for each of eight k.
  static constexpr distribution_encoding b_along_n =
      one_wave_encoding({8, 8}, {4, 8}, {{1, 0}, {2, 0}}, {{2, 1}, {1, 1}});
  /// The same for the matrix instruction. A lane's eight neighbours along k are two steps of four.
  static constexpr distribution_encoding a_operand =
      one_wave_encoding({2, 8}, {4, 2, 2, 2}, {{1, 1}, {2, 0}}, {{2, 1}, {2, 2}, {1, 0}, {2, 3}});
  static constexpr distribution_encoding b_operand_along_k =
      one_wave_encoding({4, 2, 8}, {4, 2, 4}, {{1, 2}, {2, 0}}, {{1, 0}, {2, 1}, {1, 1}, {2, 2}});
  /// Of a lane's eight n, the lowest bit is row 8 of an instruction's operand, the others number instructions.
  static constexpr distribution_encoding b_operand_along_n =
      one_wave_encoding({8, 4, 2}, {4, 2, 4}, {{1, 0}, {2, 0}}, {{1, 1}, {2, 1}, {1, 2}, {2, 2}});
  static constexpr distribution_encoding c_along_k =
      one_wave_encoding({2, 8}, {4, 2, 4, 2}, {{1, 1}, {2, 2}}, {{2, 0}, {2, 1}, {1, 0}, {2, 3}});
  static constexpr distribution_encoding c_along_n =
      one_wave_encoding({2, 8}, {4, 2, 4, 2}, {{1, 1}, {2, 0}}, {{2, 2}, {2, 3}, {1, 0}, {2, 1}});
};

/// How operands are loaded and multiplied, and how the waves' sums meet in LDS.
template <class Policy>
struct few_rows_tiles {
  static constexpr block_tile tile = Policy::tile;
  static constexpr bool b_along_k = Policy::b_major == operand_major::k;
  using a_in_memory = tile_distribution<few_rows_lanes::a>;
  using b_in_memory =
      tile_distribution<number<b_along_k ? few_rows_lanes::b_along_k : few_rows_lanes::b_along_n>::value>;
  using a_operand = tile_distribution<few_rows_lanes::a_operand>;
  using b_operand = tile_distribution<
      number<b_along_k ? few_rows_lanes::b_operand_along_k : few_rows_lanes::b_operand_along_n>::value>;
  using sums = tile_distribution<number<b_along_k ? few_rows_lanes::c_along_k : few_rows_lanes::c_along_n>::value>;
  /// Each thread of the block finishes four neighbours of a row of C.
  using result = tile_distribution<number<result_rows_encoding(tile.m, tile.n, Policy::waves, 32, 4)>::value>;
  static constexpr lds_layout_choice layout = number<choose_lds_layout<typename Policy::arch>(
      lds_tile{tile.m, tile.n, 4}, lds_use{sums::encoding, lds_access_kind::write},
      lds_use{result::encoding, lds_access_kind::read})>::value;
  static constexpr index_t wave_bytes = tile.m * tile.n * 4;
};

}  // namespace detail

}  // namespace tilewright
