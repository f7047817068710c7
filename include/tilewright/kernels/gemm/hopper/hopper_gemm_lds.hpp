// SPDX-License-Identifier: MIT
// LDS of a block of warp_specialized_pipeline: stages of A and B, slots of C, barriers, scales.
#pragma once

#include <tilewright/block/mma/wgmma_operand.hpp>
#include <tilewright/block/pipeline/lds_plan.hpp>
#include <tilewright/core/arch/sm90.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_gemm_tile.hpp>

namespace tilewright::detail {

/// Scales of A of a stage, for m rows: a copy begins up to three rows before them, at a multiple of 16 bytes.
TILEWRIGHT_HD constexpr index_t scale_rows(index_t m) { return m + 4; }
/// Blocks of 128 columns that a tile of n columns may have a part of; it starts at a multiple of n.
TILEWRIGHT_HD constexpr index_t scale_columns(index_t n) { return (255 - gcd(n, 128) + n) / 128; }
/// Columns that a consumer of scaled products adds at once, of a tile of n columns; more than 128 where there is no
/// way.
TILEWRIGHT_HD constexpr index_t scaled_slice(index_t n) {
  if (n <= 128) return n;
  index_t slices = 2;
  while (slices < 5 && (n % (16 * slices) != 0 || n / slices > 80)) ++slices;
  return slices < 5 ? n / slices : n;
}
/// Bytes of the scales of a stage.
TILEWRIGHT_HD constexpr index_t scale_bytes_of(const hopper_gemm_tile& t) {
  return round_up((scale_rows(t.m) + scale_columns(t.n)) * 4, 128);
}

/// How many stages and slots there are, and their offsets in bytes.
struct hopper_gemm_lds {
  hopper_gemm_tile tile;
  wgmma_operand a, b;
  index_t result_bytes;      // of an element of C
  index_t scale_bytes = 0;   // of a stage's scales: those of A's rows, then those of B
  index_t narrow_bytes = 0;  // of A in a stage, where consumers decode it; 0: wgmma reads it
  index_t work_bytes = 0;    // of a ring of work tiles, where one warp finds them for all

  TILEWRIGHT_HD constexpr index_t bytes_of_a() const { return narrow_bytes > 0 ? narrow_bytes : a.bytes(); }
  TILEWRIGHT_HD constexpr index_t stage_bytes() const { return bytes_of_a() + b.bytes(); }
  TILEWRIGHT_HD constexpr wgmma_operand b_of_product() const {
    return {b.rows / tile.products, b.element_bytes, b.k_is_contiguous, b.length_k};
  }
  /// A slot has room for one box of C.
  TILEWRIGHT_HD constexpr index_t slot_bytes() const { return 64 * tile.box_n() * result_bytes; }
  TILEWRIGHT_HD constexpr index_t bytes_of_box(index_t box) const {
    return tile.is_narrow_box(box) ? 64 * tile.last_box_n() * result_bytes : slot_bytes();
  }
  /// At most 64 barriers: with two consumers those of most_stages and most_slots.
  static constexpr index_t barrier_bytes = 512, most_stages = 12, most_slots = 10;
  /// A consumer fills one slot while TMA reads the other; with fewer slots each waits for every store of its own. More
  /// leave less LDS to stages.
  static constexpr index_t slots_per_consumer = 2;

  /// As many stages as fit with slots_per_consumer; then as many slots as still fit and divide the boxes of the tile:
  /// so a box has the same slot in all tiles, and there are no more slots than boxes.
  TILEWRIGHT_HD constexpr index_t num_stages() const {
    const index_t least_slots = tile.unaligned ? 0 : slots_per_consumer * tile.consumers;
    return min(most_stages, (room() - least_slots * slot_bytes() - queue_bytes()) / (stage_bytes() + scale_bytes));
  }
  TILEWRIGHT_HD constexpr index_t num_slots() const {
    if (tile.unaligned) return 0;  // C is written from registers
    index_t n = min(most_slots, (room() - num_stages() * (stage_bytes() + scale_bytes)) / slot_bytes());
    while (modulo(tile.num_boxes(), n) != 0) --n;
    return n;
  }
  /// Barriers of 8 bytes: two for each stage; for each slot two and one for each consumer.
  TILEWRIGHT_HD constexpr index_t num_barriers() const { return 2 * num_stages() + (2 + tile.consumers) * num_slots(); }

  struct regions {
    index_t stages, slots, barriers, scales, queues, works, bytes;
  };
  TILEWRIGHT_HD constexpr regions plan() const {
    lds_plan lds;
    regions r{};
    r.stages = lds.take(num_stages() * stage_bytes());
    r.slots = lds.take(num_slots() * slot_bytes());
    r.barriers = lds.take(barrier_bytes);
    r.scales = lds.take(num_stages() * scale_bytes);
    r.queues = lds.take(queue_bytes());
    r.works = lds.take(work_bytes);
    r.bytes = lds.bytes();
    return r;
  }

  /// Unaligned: each producing warp has a queue of `queue_length` groups of lines of a stage, as they are in memory:
  /// nine vectors of 16 bytes for each line.
  static constexpr index_t queue_length = 4, lines_per_group = 16, line_bytes = 144;
  TILEWRIGHT_HD constexpr index_t groups_of_stage() const { return stage_bytes() / 128 / lines_per_group; }
  TILEWRIGHT_HD constexpr index_t queue_bytes() const {
    return tile.unaligned ? 4 * tile.producers() * queue_length * lines_per_group * line_bytes : 0;
  }

  /// A warp's 16 rows of a slot; or a whole slot of C^T, by columns.
  TILEWRIGHT_HD constexpr swizzled_layout slot_layout() const {
    return tile.swap_ab ? tma_swizzle(tile.box_n(), 64 * result_bytes, result_bytes)
                        : tma_swizzle(16, tile.box_n() * result_bytes, result_bytes);
  }

 private:
  /// An SM keeps 1 KiB of each block for itself.
  TILEWRIGHT_HD constexpr index_t room() const {
    return (arch::sm90::value.lds_bytes - (tile.blocks - 1) * 1024) / tile.blocks / 16 * 16 - barrier_bytes -
           work_bytes;
  }
};

}  // namespace tilewright::detail
