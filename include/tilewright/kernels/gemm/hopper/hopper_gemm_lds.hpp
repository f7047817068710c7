// SPDX-License-Identifier: MIT
// How warp_specialized_pipeline divides a block tile: roles of warpgroups, blocks in clusters, what lies where in LDS.
#pragma once

#include <tilewright/block/mma/wgmma_operand.hpp>
#include <tilewright/core/arch/sm90.hpp>

namespace tilewright {

/// A block computes m x n sums with `consumers` warpgroups, each of m / consumers rows in groups of 64, and one more
/// warpgroup that starts copies. If there are two products, the first n / 2 columns are the first's. Blocks form
/// clusters: `share_b` blocks above each other, which receive the same tile of B at once (multicast), times `share_a`
/// blocks side by side, which receive the same tile of A.
struct hopper_gemm_tile {
  index_t m = 128, n = 256;
  index_t share_b = 1, share_a = 1;
  index_t consumers = 2, products = 1;
  index_t blocks = 1;      // that LDS holds at once on an SM
  bool swap_ab = false;    // computes C^T = B^T A^T: m and share_a count columns of C, n and share_b rows
  bool ping_pong = false;  // each of two consumers computes tiles of its own: one writes while the other multiplies
  bool unaligned = false;  // rows of operands and of C start anywhere in memory: see unaligned_stages

  /// The same with these lengths; in ping-pong, there are two consumers for each one that shares a tile.
  TILEWRIGHT_HD constexpr hopper_gemm_tile of_size(index_t rows, index_t cols, index_t sharing, index_t num) const {
    hopper_gemm_tile t = *this;
    t.m = rows, t.n = cols, t.consumers = ping_pong ? 2 : sharing, t.products = num;
    return t;
  }
  TILEWRIGHT_HD constexpr index_t sharing() const { return ping_pong ? 1 : consumers; }  // a tile
  TILEWRIGHT_HD constexpr index_t producers() const { return unaligned ? 2 : 1; }
  TILEWRIGHT_HD constexpr index_t block_size() const { return (consumers + producers()) * 128; }
  TILEWRIGHT_HD constexpr index_t cluster() const { return share_b * share_a; }

  /// Blocks that copy a tile of B which share_b blocks share: each whole groups of 8 rows, the swizzle's period.
  TILEWRIGHT_HD constexpr index_t copies_of_b() const { return result_n() % (8 * share_b) == 0 ? share_b : 2; }

  /// Results of wgmma, 64 x n each, that a consumer has below each other; accumulators of each of its threads.
  TILEWRIGHT_HD constexpr index_t repeat_m() const { return m / (64 * sharing()); }
  TILEWRIGHT_HD constexpr index_t accumulators() const { return repeat_m() * n / 2; }

  /// Two consumers take turns at the end of a tile: one multiplies while the other writes.
  TILEWRIGHT_HD constexpr bool takes_turns() const { return sharing() == 2; }

  /// C has as many columns as one product. It is stored in boxes of 64 rows and store_n() columns; the last box of a
  /// row may have less: last_n().
  TILEWRIGHT_HD constexpr index_t result_n() const { return n / products; }
  TILEWRIGHT_HD constexpr index_t store_n() const { return result_n() % 32 != 0 || result_n() % 64 == 0 ? 64 : 32; }
  TILEWRIGHT_HD constexpr index_t boxes_per_row() const { return ceil_div(result_n(), store_n()); }
  TILEWRIGHT_HD constexpr index_t last_n() const { return result_n() - (boxes_per_row() - 1) * store_n(); }
  TILEWRIGHT_HD constexpr bool has_narrow() const { return last_n() < store_n(); }
  TILEWRIGHT_HD constexpr bool is_narrow(index_t box) const {
    return has_narrow() && modulo(box, boxes_per_row()) + 1 == boxes_per_row();
  }
  TILEWRIGHT_HD constexpr index_t boxes_of_consumer() const { return repeat_m() * boxes_per_row(); }
  TILEWRIGHT_HD constexpr index_t num_boxes() const { return sharing() * boxes_of_consumer(); }

  /// The order in which a tile's boxes leave: one consumer after the other.
  TILEWRIGHT_HD constexpr index_t box_number(index_t consumer, index_t box) const {
    return consumer * boxes_of_consumer() + box;
  }
  struct position {
    index_t m, n, consumer;
  };
  /// Where box `number` begins in the tile, and whose it is.
  TILEWRIGHT_HD constexpr position box_position(index_t number) const {
    const index_t consumer = divide(number, boxes_of_consumer()), box = modulo(number, boxes_of_consumer());
    return {(divide(box, boxes_per_row()) * sharing() + consumer) * 64, modulo(box, boxes_per_row()) * store_n(),
            consumer};
  }

  /// Registers of each thread: of the copying warpgroup, more if a wave sends to other GPUs or shifts; of consumers.
  TILEWRIGHT_HD constexpr index_t producer_registers(bool sends) const { return unaligned ? 64 : sends ? 72 : 40; }
  TILEWRIGHT_HD constexpr index_t consumer_registers(bool sends) const { return unaligned ? 192 : sends ? 216 : 232; }

  TILEWRIGHT_HD constexpr bool is_sound() const {
    const bool known_n = n == 32 || (n % 16 == 0 && 64 <= n && n <= 256);
    if (consumers < 1 || consumers > 2 || m < 64 || m % (64 * sharing()) != 0 || !known_n) return false;
    const bool room = accumulators() <= (ping_pong ? 192 : 160);
    const bool two = products == 2 && repeat_m() == 1 && result_n() % 32 == 0 && !swap_ab;
    if (unaligned && (ping_pong || swap_ab || products > 1 || cluster() > 1 || n % 64 != 0)) return false;
    return room && (products == 1 || two) && detail::is_power_of_two(cluster()) && cluster() <= 8 &&
           m % (8 * share_a) == 0;
  }
  friend constexpr bool operator==(const hopper_gemm_tile&, const hopper_gemm_tile&) = default;
};

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
  TILEWRIGHT_HD constexpr index_t box_bytes() const { return 64 * tile.store_n() * result_bytes; }
  TILEWRIGHT_HD constexpr index_t narrow_box_bytes() const { return 64 * tile.last_n() * result_bytes; }
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
    return tile.swap_ab ? tma_swizzle(tile.store_n(), 64 * result_bytes, result_bytes)
                        : tma_swizzle(16, tile.store_n() * result_bytes, result_bytes);
  }

 private:
  /// An SM keeps 1 KiB of each block for itself.
  TILEWRIGHT_HD constexpr index_t room() const {
    return (arch::sm90::value.lds_bytes - (tile.blocks - 1) * 1024) / tile.blocks / 16 * 16 - barrier_bytes;
  }
};

}  // namespace detail

}  // namespace tilewright
