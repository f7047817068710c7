// SPDX-License-Identifier: MIT
// LDS of a block of warp_specialized_pipeline: stages of A and B, slots of C, barriers.
#pragma once

#include <tilewright/block/mma/wgmma_operand.hpp>
#include <tilewright/core/arch/sm90.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_gemm_tile.hpp>

namespace tilewright {

namespace detail {

/// Scales of A of a stage, for m rows: a copy begins up to three rows before them, where 16 bytes do.
TILEWRIGHT_HD constexpr index_t scale_rows(index_t m) { return m + 4; }

/// Where everything lies in a block's LDS, in bytes: stages of A and B; boxes of C, 64 rows each; barriers; scales.
struct hopper_gemm_lds {
  hopper_gemm_tile tile;
  wgmma_operand a, b;
  index_t result_bytes;     // of an element of C
  index_t scale_bytes = 0;  // of a stage's scales: those of A's rows, then those of B

  TILEWRIGHT_HD constexpr index_t stage_bytes() const { return a.bytes() + b.bytes(); }
  TILEWRIGHT_HD constexpr wgmma_operand b_of_product() const {
    return {b.rows / tile.products, b.element_bytes, b.k_is_contiguous};
  }
  TILEWRIGHT_HD constexpr index_t box_bytes() const { return 64 * tile.box_n() * result_bytes; }
  TILEWRIGHT_HD constexpr index_t narrow_box_bytes() const { return 64 * tile.last_box_n() * result_bytes; }
  static constexpr index_t barrier_bytes = 512;

  /// As many stages as fit with two boxes for each consumer; then as many boxes as still fit and divide those
  /// of the tile: so each box has one place for all tiles.
  TILEWRIGHT_HD constexpr index_t num_stages() const {
    const index_t two_boxes = tile.unaligned ? 0 : 2 * tile.consumers * box_bytes();
    return min(12, (room() - two_boxes - queue_bytes()) / (stage_bytes() + scale_bytes));
  }
  TILEWRIGHT_HD constexpr index_t num_boxes() const {
    if (tile.unaligned) return 0;  // C is written from registers
    index_t n = min(10, (room() - num_stages() * (stage_bytes() + scale_bytes)) / box_bytes());
    while (modulo(tile.num_boxes(), n) != 0) --n;
    return n;
  }
  /// Barriers of 8 bytes: two for each stage; for each box two and one for each consumer.
  TILEWRIGHT_HD constexpr index_t num_barriers() const { return 2 * num_stages() + (2 + tile.consumers) * num_boxes(); }
  TILEWRIGHT_HD constexpr index_t boxes_offset() const { return num_stages() * stage_bytes(); }
  TILEWRIGHT_HD constexpr index_t barriers_offset() const { return boxes_offset() + num_boxes() * box_bytes(); }
  TILEWRIGHT_HD constexpr index_t scales_offset() const { return barriers_offset() + barrier_bytes; }
  TILEWRIGHT_HD constexpr index_t queue_offset() const { return scales_offset() + num_stages() * scale_bytes; }
  TILEWRIGHT_HD constexpr index_t bytes() const { return queue_offset() + queue_bytes(); }

  /// With unaligned, for each producing wave `queue_length` groups of lines of a stage as they lie in memory: in nine
  /// vectors of 16 bytes.
  static constexpr index_t queue_length = 4, lines_of_group = 16, line_bytes = 144;
  TILEWRIGHT_HD constexpr index_t groups_of_stage() const { return stage_bytes() / 128 / lines_of_group; }
  TILEWRIGHT_HD constexpr index_t queue_bytes() const {
    return tile.unaligned ? 4 * tile.producers() * queue_length * lines_of_group * line_bytes : 0;
  }

  /// A wave's 16 rows of a box; or a whole box of C^T, by columns.
  TILEWRIGHT_HD constexpr swizzled_layout box_layout() const {
    return tile.swap_ab ? tma_swizzle(tile.box_n(), 64 * result_bytes, result_bytes)
                        : tma_swizzle(16, tile.box_n() * result_bytes, result_bytes);
  }

 private:
  /// An SM keeps 1 KiB of each block for itself.
  TILEWRIGHT_HD constexpr index_t room() const {
    return (arch::sm90::value.lds_bytes - (tile.blocks - 1) * 1024) / tile.blocks / 16 * 16 - barrier_bytes;
  }
};

}  // namespace detail

}  // namespace tilewright
