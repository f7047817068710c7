// SPDX-License-Identifier: MIT
// block_gemm for Hopper's wgmma: a warpgroup multiplies operands in LDS, or A in registers.
#pragma once

#include <tilewright/block/mma/block_tile.hpp>
#include <tilewright/block/mma/wgmma_operand.hpp>
#include <tilewright/core/base/fp8.hpp>
#include <tilewright/machine/exec/hopper.hpp>
#include <tilewright/tile/registers/static_distributed_tensor.hpp>

#if TILEWRIGHT_HOPPER_PASS
namespace tilewright {

/// An operand's tile in LDS, at a byte address.
template <wgmma_operand Operand>
struct wgmma_tile_in_lds {
  unsigned address;  ///< bytes; of its first box
};

/// Starts c = a b, plus c if `accumulate`, for the calling warpgroup, whose first 64 rows of A begin at
/// a.address; of its waves, those of the other warpgroups are between its groups of 64 rows. Ends with wgmma_commit:
/// exec::wgmma_wait() waits for c. T is the element type of both operands.
template <block_tile Tile, class T, wgmma_operand A, wgmma_operand B, class C>
TILEWRIGHT_HD void block_gemm(static_distributed_tensor<float, C>& accumulators, wgmma_tile_in_lds<A> a,
                              wgmma_tile_in_lds<B> b, bool accumulate) {
  static_assert(arch::is_wgmma(Tile.op) && Tile.waves_m % 4 == 0 && Tile.waves_n == 1,
                "block_gemm: operands in LDS as wgmma wants them need a tile with waves_m = 4 for each warpgroup");
  static_assert(
      A.rows == Tile.m && B.rows == Tile.n && A.k() == Tile.k && B.k() == Tile.k && A.is_sound() && B.is_sound(),
      "block_gemm: the operands in LDS are not m x k and n x k of the block tile");
  constexpr bool has_c = __is_same(C, c_distribution<Tile>);
  static_assert(has_c, "block_gemm: the accumulators do not have the distribution c_distribution<tile>");
  constexpr unsigned long long a_fields = A.descriptor_fields(), b_fields = B.descriptor_fields();
  constexpr index_t repeat_m = Tile.m / (16 * Tile.waves_m), rows = 16 * Tile.waves_m,
                    next_rows = A.k_is_contiguous ? rows * A.row_bytes : rows / A.box_columns() * A.box_bytes();
  float* const c = accumulators.thread_buffer.data();
  const unsigned long long a_begin = detail::wgmma_descriptor(a_fields, a.address),
                           b_begin = detail::wgmma_descriptor(b_fields, b.address);
  exec::wgmma_fence();
  unroll<Tile.k / A.instruction_k() * repeat_m>([&](auto j) TILEWRIGHT_INLINE_LAMBDA {
    constexpr index_t i = j / repeat_m, r = j % repeat_m;
    exec::wgmma<Tile.n, T, !A.k_is_contiguous, !B.k_is_contiguous>(
        c + r * Tile.n / 2, a_begin + (A.instruction_bytes(i) + r * next_rows) / 16,
        b_begin + B.instruction_bytes(i) / 16, accumulate || i > 0);
  });
  exec::wgmma_commit();
}

/// Operand A of wgmma in registers, packed as the instruction takes it: 16 bytes of a thread for each step along k.
template <block_tile Tile, class T>
struct wgmma_tile_in_registers {
  /// by step along k, four each
  array<unsigned, Tile.k * index_t(sizeof(T)) / 8> words{};

  /// Rounds C of another product, which is as long along n as this one is along k; no element changes its lane. With
  /// 8-bit elements k has another order then: element 16 i + 4 q + 2 h + l along k is column 16 i + 8 h + 2 q + l.
  template <class C>
  TILEWRIGHT_HD void assign(const static_distributed_tensor<float, C>& tile) {
    constexpr bool same_lengths = Tile.m == C::x_lengths[0] && Tile.k == C::x_lengths[1];
    static_assert(same_lengths,
                  "wgmma_tile_in_registers: C of a product becomes A of the next one if the tile has as many rows, and "
                  "is as long along k as C has columns");
    const float* const x = tile.thread_buffer.data();
    TILEWRIGHT_UNROLL_ALL
    for (index_t w = 0; w < words.size(); ++w) {
      if constexpr (sizeof(T) == 2) {
        words[w] = exec::round_pair<T>(x[2 * w], x[2 * w + 1]);
      } else {
        const index_t d = w / 2 * 8 + w % 2 * 2;
        words[w] = detail::fp8_word_from_small_floats<T::format>(x[d], x[d + 1], x[d + 4], x[d + 5]);
      }
    }
  }
};

/// The same with A in registers, which must stay as it is until exec::wgmma_wait().
template <block_tile Tile, class T, wgmma_operand B, class C>
TILEWRIGHT_HD void block_gemm(static_distributed_tensor<float, C>& accumulators,
                              const wgmma_tile_in_registers<Tile, T>& a, wgmma_tile_in_lds<B> b, bool accumulate) {
  static_assert(arch::is_wgmma(Tile.op) && Tile.waves_m % 4 == 0 && Tile.waves_n == 1 && Tile.m == 16 * Tile.waves_m,
                "block_gemm: wgmma with A in registers needs a tile with 64 rows for each warpgroup");
  static_assert(B.rows == Tile.n && B.k() == Tile.k && B.is_sound(),
                "block_gemm: the operand in LDS is not n x k of the block tile");
  constexpr bool has_c = __is_same(C, c_distribution<Tile>);
  static_assert(has_c, "block_gemm: the accumulators do not have the distribution c_distribution<tile>");
  constexpr unsigned long long b_fields = B.descriptor_fields();
  const unsigned long long b_begin = detail::wgmma_descriptor(b_fields, b.address);
  exec::wgmma_fence();
  unroll<Tile.k / B.instruction_k()>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
    exec::wgmma<Tile.n, T, !B.k_is_contiguous>(accumulators.thread_buffer.data(), a.words.data() + 4 * i,
                                               b_begin + B.instruction_bytes(i) / 16, accumulate || i > 0);
  });
  exec::wgmma_commit();
}

}  // namespace tilewright
#endif
