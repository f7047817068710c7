// SPDX-License-Identifier: MIT
// Transposes an operand of 8-bit elements in LDS, which wgmma takes with contiguous k alone.
#pragma once

#include <tilewright/exec/gather_bytes.hpp>
#include <tilewright/exec/hopper.hpp>
#include <tilewright/mma/wgmma_operand.hpp>

#if TILEWRIGHT_HOPPER_PASS
namespace tilewright::detail {

/// From rows of k to rows of n, in the order of k that wgmma_tile_in_registers::assign has: element 16 i + 4 q + 2 h +
/// l of a row of `To` is row 16 i + 8 h + 2 q + l of `From`. Wave `wave` of `Waves` does its share. `from` and `to`:
/// bytes after `lds`.
///
/// A matrix that ldmatrix reads transposed has pairs of bytes as elements: lane 4 c + q gets rows 2 q and 2 q + 1 of
/// columns 2 c and 2 c + 1. The bytes of a column, together with those of 8 rows further, are 4 consecutive elements of
/// a row of `To`, where stmatrix writes them. It writes even columns 0 to 6 with odd ones 9 to 15 and vice versa:
/// rows of a phase are then in different banks.
template <wgmma_operand From, wgmma_operand To, index_t Waves>
TILEWRIGHT_HD void transpose_bytes(exec::lds_pointer lds, index_t from, index_t to, index_t wave) {
  static_assert(From.element_bytes == 1 && To.element_bytes == 1 && From.k_is_contiguous && To.k_is_contiguous &&
                From.rows == To.k() && To.rows == From.k() && From.rows % 16 == 0 && To.rows % 32 == 0);
  constexpr index_t columns = min(To.rows / 32, 4);  // of 32, one after the other
  const index_t lane = exec::lane_id(), matrix = divide(lane, 8), row = modulo(lane, 8);
  const unsigned even = lane < 16 ? 0x6420 : 0x7531, odd = even ^ 0x1111;
  const auto in_box = [](index_t r, index_t byte)
                          TILEWRIGHT_INLINE_LAMBDA { return bulk_swizzled_address(128, 128 * r + byte); };
  TILEWRIGHT_UNROLL(1)
  for (index_t part = wave; part < From.rows / 16 * From.num_boxes(); part += Waves) {
    const index_t box = modulo(part, From.num_boxes()), k = 16 * divide(part, From.num_boxes());
    const auto exists = [&](index_t i)
                            TILEWRIGHT_INLINE_LAMBDA { return To.rows % 128 == 0 || 128 * box + 32 * i < To.rows; };
    array<array<unsigned, 4>, columns> words;
    unroll<columns>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
      const index_t source = in_box(k + 8 * modulo(matrix, 2) + row, 32 * i + 16 * divide(matrix, 2));
      if (exists(i)) words[i] = exec::ldmatrix_x4<true>(lds, from + box * From.box_bytes() + source);
    });
    unroll<columns>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
      const auto& w = words[i];
      const index_t column = 128 * box + 32 * i + 16 * divide(matrix, 2) + 2 * row + (modulo(matrix, 2) ^ row / 4);
      if (exists(i))
        exec::stmatrix_x4<false>(lds, to + divide(k, 128) * To.box_bytes() + in_box(column, modulo(k, 128)),
                                 {exec::permute_bytes(w[0], w[1], even), exec::permute_bytes(w[0], w[1], odd),
                                  exec::permute_bytes(w[2], w[3], even), exec::permute_bytes(w[2], w[3], odd)});
    });
  }
}

}  // namespace tilewright::detail
#endif
