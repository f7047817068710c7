// SPDX-License-Identifier: MIT
// LDS of a block of small-M GEMM with a B in a narrow format: stages, scales as stored and as used, accumulators.
#pragma once

#include <tilewright/kernels/gemm/hopper/narrow_policy.hpp>

namespace tilewright::detail {

/// What a block has in LDS. A column of B and a row of A are lines of 16-byte pieces, with a gap after each, so that
/// the eight lines of an mma operand are in different banks and addresses differ by constants.
template <class Policy>
struct narrow_lds {
  using F = typename Policy::b_format;
  static constexpr block_tile tile = Policy::tile;
  static constexpr index_t pieces = Policy::column_bytes / 16;  ///< of a column of B
  static constexpr index_t piece = 4 * F::elements;             ///< elements along k of 16 bytes of B
  static constexpr index_t a_pieces = tile.k / 8;               ///< of a row of A
  static constexpr index_t b_pitch = Policy::column_bytes + 16, a_pitch = a_pieces * 16 + F::elements * 8;
  static constexpr index_t a_at = tile.n * b_pitch, stage_bytes = a_at + tile.m * a_pitch;
  /// Scales of a step are two buffers of (groups, n), as they multiply; zero points likewise.
  static constexpr bool by_column = F::group == 0;
  static constexpr index_t groups = by_column ? 0 : max(tile.k / max(F::group, 1), 1), scale_pitch = tile.n + 8,
                           scale_bytes = groups * scale_pitch * 4, scales_at = Policy::stages * stage_bytes,
                           zeros_at = scales_at + 2 * scale_bytes,
                           chunks_at = zeros_at + (F::has_zero_points ? 2 * scale_bytes : 0);
  /// As they are stored: chunks of 16 bytes or a step's, of steps_of_chunk steps; then those of zero points.
  static constexpr index_t scale_size = index_t(sizeof(typename F::scale_type)),
                           zero_size = F::has_zero_points ? index_t(sizeof(typename F::zero_type)) : 0,
                           in_chunk = by_column ? 0 : max(groups, 16 / scale_size), chunk_bytes = in_chunk * scale_size,
                           zero_chunk_bytes = in_chunk * zero_size,
                           steps_of_chunk = by_column ? 1 : in_chunk * F::group / tile.k,
                           chunks = 1 + ceil_div(Policy::stages - 1, steps_of_chunk),
                           zero_chunks_at = chunks_at + chunks * tile.n * chunk_bytes,
                           bytes = zero_chunks_at + chunks * tile.n * zero_chunk_bytes;
  /// C's accumulators, at the start.
  static constexpr index_t sum_pitch = tile.n + 4;
  static_assert(tile.m * sum_pitch * 4 <= bytes);
};

}  // namespace tilewright::detail
