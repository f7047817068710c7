// SPDX-License-Identifier: MIT
// Tiles of warp_specialized_pipeline: warpgroups of a block, blocks of a cluster, boxes of C.
#pragma once

#include <tilewright/core/base/math.hpp>

namespace tilewright {

/// How a block computes an m x n tile of C, with `consumers` warpgroups that issue wgmma and one more that moves data.
/// Blocks form clusters of cluster_m x cluster_n, in which TMA multicasts a tile of B to blocks above each other, and a
/// tile of A to blocks side by side:
///
///   cluster_m = 2:   block 0 | A 0 |             cluster_n = 2:   block 0 | block 1
///                    block 1 | A 1 |                               A once for both
///                    B once for both                               B 0     | B 1
struct hopper_gemm_tile {
  index_t m = 128;         ///< Rows of C of a block; whole groups of 64 for each consumer of the tile.
  index_t n = 256;         ///< Columns of C; of all products of the policy together. A multiple of 8 up to 256.
  index_t cluster_m = 1;   ///< Blocks above each other that share B.
  index_t cluster_n = 1;   ///< Blocks side by side that share A. cluster_m * cluster_n: a power of two, at most 8.
  index_t consumers = 2;   ///< Warpgroups that multiply: 1 or 2.
  index_t products = 1;    ///< Products of the policy, 1 or 2: the first n / 2 columns are the first's.
  index_t blocks = 1;      ///< Blocks that are resident on an SM at once.
  bool swap_ab = false;    ///< Computes C^T = B^T A^T: m, cluster_n count columns of C, and n, cluster_m rows.
  bool ping_pong = false;  ///< Each of two consumers computes tiles of its own: one stores while the other multiplies.
  bool unaligned = false;  ///< Rows of A, B and C start at any element: see unaligned_producer.

  /// This tile with other lengths: rows x cols, `sharing` consumers of a tile, `num` products.
  TILEWRIGHT_HD constexpr hopper_gemm_tile of_size(index_t rows, index_t cols, index_t sharing, index_t num) const {
    hopper_gemm_tile t = *this;
    t.m = rows, t.n = cols, t.consumers = ping_pong ? 2 : sharing, t.products = num;
    return t;
  }
  /// Consumers that compute one tile together.
  TILEWRIGHT_HD constexpr index_t consumers_per_tile() const { return ping_pong ? 1 : consumers; }
  /// Warpgroups that move data.
  TILEWRIGHT_HD constexpr index_t producers() const { return unaligned ? 2 : 1; }
  /// Threads of a block.
  TILEWRIGHT_HD constexpr index_t block_size() const { return (consumers + producers()) * 128; }
  /// Blocks of a cluster.
  TILEWRIGHT_HD constexpr index_t cluster() const { return cluster_m * cluster_n; }

  /// Where block `rank` of a cluster is; blocks that share B have consecutive ranks.
  TILEWRIGHT_HD constexpr index_t row_in_cluster(index_t rank) const { return cluster_m > 1 ? rank % cluster_m : 0; }
  /// The column of block `rank` in its cluster: which of the blocks side by side.
  TILEWRIGHT_HD constexpr index_t col_in_cluster(index_t rank) const { return cluster_n > 1 ? rank / cluster_m : 0; }

  /// Of the blocks that share a tile of B, how many load a slice of it: slices are whole groups of 8 rows, the period
  /// of the swizzle.
  TILEWRIGHT_HD constexpr index_t b_loaders() const { return detail::gcd(cluster_m, result_n() / 8); }

  /// Results of wgmma, 64 x n each, that a consumer has below each other; accumulators of each of its threads.
  TILEWRIGHT_HD constexpr index_t repeat_m() const { return m / (64 * consumers_per_tile()); }
  /// Floats of C in each thread of a consumer.
  TILEWRIGHT_HD constexpr index_t accumulators() const { return repeat_m() * n / 2; }

  /// Whether the two consumers of a tile end it one after the other: see shared_tile_order.
  TILEWRIGHT_HD constexpr bool orders_consumers() const { return consumers_per_tile() == 2; }

  /// Columns of C: those of one product. TMA stores them in boxes of 64 rows and box_n() columns; the last box of a row
  /// may have less: last_box_n().
  TILEWRIGHT_HD constexpr index_t result_n() const { return n / products; }
  /// Columns of a box of C: 64 or 32.
  TILEWRIGHT_HD constexpr index_t box_n() const { return result_n() % 32 != 0 || result_n() % 64 == 0 ? 64 : 32; }
  /// Boxes for 64 rows of a tile of C.
  TILEWRIGHT_HD constexpr index_t boxes_per_row() const { return ceil_div(result_n(), box_n()); }
  /// Columns of the last of these.
  TILEWRIGHT_HD constexpr index_t last_box_n() const { return result_n() - (boxes_per_row() - 1) * box_n(); }
  /// Whether the last one has fewer columns than the others.
  TILEWRIGHT_HD constexpr bool has_narrow_box() const { return last_box_n() < box_n(); }
  /// Whether box number `box` of a consumer is such a box.
  TILEWRIGHT_HD constexpr bool is_narrow_box(index_t box) const {
    return has_narrow_box() && modulo(box, boxes_per_row()) + 1 == boxes_per_row();
  }
  /// Boxes of a tile that one consumer fills.
  TILEWRIGHT_HD constexpr index_t boxes_per_consumer() const { return repeat_m() * boxes_per_row(); }
  /// Boxes of a tile.
  TILEWRIGHT_HD constexpr index_t num_boxes() const { return consumers_per_tile() * boxes_per_consumer(); }

  /// The order in which a tile's boxes are stored: those of one consumer after those of the other.
  TILEWRIGHT_HD constexpr index_t box_number(index_t consumer, index_t box) const {
    return consumer * boxes_per_consumer() + box;
  }
  /// The first element of a box in the tile, and the consumer that fills it.
  struct box_origin {
    /// Row, column, and the consumer, from 0.
    index_t m, n, consumer;
  };
  /// Where the box of this box_number() is.
  TILEWRIGHT_HD constexpr box_origin origin_of_box(index_t number) const {
    const index_t consumer = divide(number, boxes_per_consumer()), box = modulo(number, boxes_per_consumer());
    return {(divide(box, boxes_per_row()) * consumers_per_tile() + consumer) * 64,
            modulo(box, boxes_per_row()) * box_n(), consumer};
  }

  /// Whether there is code for the tile; the members above say what each allows.
  TILEWRIGHT_HD constexpr bool is_sound() const {
    const bool known_n = n % 8 == 0 && 8 <= n && n <= 256;
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
