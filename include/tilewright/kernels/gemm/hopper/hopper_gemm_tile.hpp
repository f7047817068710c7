// SPDX-License-Identifier: MIT
// Tiles of warp_specialized_pipeline: warpgroups of a block, blocks of a cluster, boxes of C.
#pragma once

#include <tilewright/core/base/math.hpp>

namespace tilewright {

/// A block computes m x n sums with `consumers` warpgroups, each of m / consumers rows in groups of 64, and one more
/// warpgroup that starts copies. If there are two products, the first n / 2 columns are the first's. Blocks form
/// clusters: `cluster_m` blocks above each other, which receive the same tile of B at once (multicast), times
/// `cluster_n` blocks side by side, which receive the same tile of A.
struct hopper_gemm_tile {
  index_t m = 128, n = 256;
  index_t cluster_m = 1, cluster_n = 1;
  index_t consumers = 2, products = 1;
  index_t blocks = 1;      // that LDS holds at once on an SM
  bool swap_ab = false;    // computes C^T = B^T A^T: m and cluster_n count columns of C, n and cluster_m rows
  bool ping_pong = false;  // each of two consumers computes tiles of its own: one writes while the other multiplies
  bool unaligned = false;  // rows of operands and of C start anywhere in memory: see unaligned_stages

  /// The same with these lengths; in ping-pong, there are two consumers for each one that shares a tile.
  TILEWRIGHT_HD constexpr hopper_gemm_tile of_size(index_t rows, index_t cols, index_t sharing, index_t num) const {
    hopper_gemm_tile t = *this;
    t.m = rows, t.n = cols, t.consumers = ping_pong ? 2 : sharing, t.products = num;
    return t;
  }
  TILEWRIGHT_HD constexpr index_t consumers_per_tile() const { return ping_pong ? 1 : consumers; }  // a tile
  TILEWRIGHT_HD constexpr index_t producers() const { return unaligned ? 2 : 1; }
  TILEWRIGHT_HD constexpr index_t block_size() const { return (consumers + producers()) * 128; }
  TILEWRIGHT_HD constexpr index_t cluster() const { return cluster_m * cluster_n; }

  /// Blocks that copy a tile of B which cluster_m blocks share: each whole groups of 8 rows, the swizzle's period.
  TILEWRIGHT_HD constexpr index_t b_loaders() const { return result_n() % (8 * cluster_m) == 0 ? cluster_m : 2; }

  /// Results of wgmma, 64 x n each, that a consumer has below each other; accumulators of each of its threads.
  TILEWRIGHT_HD constexpr index_t repeat_m() const { return m / (64 * consumers_per_tile()); }
  TILEWRIGHT_HD constexpr index_t accumulators() const { return repeat_m() * n / 2; }

  /// Two consumers take turns at the end of a tile: one multiplies while the other writes.
  TILEWRIGHT_HD constexpr bool orders_consumers() const { return consumers_per_tile() == 2; }

  /// C has as many columns as one product. It is stored in boxes of 64 rows and box_n() columns; the last box of a
  /// row may have less: last_box_n().
  TILEWRIGHT_HD constexpr index_t result_n() const { return n / products; }
  TILEWRIGHT_HD constexpr index_t box_n() const { return result_n() % 32 != 0 || result_n() % 64 == 0 ? 64 : 32; }
  TILEWRIGHT_HD constexpr index_t boxes_per_row() const { return ceil_div(result_n(), box_n()); }
  TILEWRIGHT_HD constexpr index_t last_box_n() const { return result_n() - (boxes_per_row() - 1) * box_n(); }
  TILEWRIGHT_HD constexpr bool has_narrow_box() const { return last_box_n() < box_n(); }
  TILEWRIGHT_HD constexpr bool is_narrow_box(index_t box) const {
    return has_narrow_box() && modulo(box, boxes_per_row()) + 1 == boxes_per_row();
  }
  TILEWRIGHT_HD constexpr index_t boxes_per_consumer() const { return repeat_m() * boxes_per_row(); }
  TILEWRIGHT_HD constexpr index_t num_boxes() const { return consumers_per_tile() * boxes_per_consumer(); }

  /// The order in which a tile's boxes leave: one consumer after the other.
  TILEWRIGHT_HD constexpr index_t box_number(index_t consumer, index_t box) const {
    return consumer * boxes_per_consumer() + box;
  }
  struct position {
    index_t m, n, consumer;
  };
  /// Where box `number` begins in the tile, and whose it is.
  TILEWRIGHT_HD constexpr position box_coord(index_t number) const {
    const index_t consumer = divide(number, boxes_per_consumer()), box = modulo(number, boxes_per_consumer());
    return {(divide(box, boxes_per_row()) * consumers_per_tile() + consumer) * 64,
            modulo(box, boxes_per_row()) * box_n(), consumer};
  }

  /// Registers of each thread: of the copying warpgroup, more if a wave sends to other GPUs or shifts; of consumers.
  TILEWRIGHT_HD constexpr index_t producer_registers(bool sends) const { return unaligned ? 64 : sends ? 72 : 40; }
  TILEWRIGHT_HD constexpr index_t consumer_registers(bool sends) const { return unaligned ? 192 : sends ? 216 : 232; }

  TILEWRIGHT_HD constexpr bool is_sound() const {
    const bool known_n = n == 32 || (n % 16 == 0 && 64 <= n && n <= 256);
    if (consumers < 1 || consumers > 2 || m < 64 || m % (64 * consumers_per_tile()) != 0 || !known_n) return false;
    const bool room = accumulators() <= (ping_pong ? 192 : 160);
    const bool two = products == 2 && repeat_m() == 1 && result_n() % 32 == 0 && !swap_ab;
    if (unaligned && (ping_pong || swap_ab || products > 1 || cluster() > 1 || n % 64 != 0)) return false;
    return room && (products == 1 || two) && detail::is_power_of_two(cluster()) && cluster() <= 8 &&
           m % (8 * cluster_n) == 0;
  }
  friend constexpr bool operator==(const hopper_gemm_tile&, const hopper_gemm_tile&) = default;
};

}  // namespace tilewright
