// SPDX-License-Identifier: MIT
// The shape of a Hopper GEMM block: its tile, how blocks of a cluster share work, and what lies where in LDS.
#pragma once

#include <tilewright/arch/sm90.hpp>
#include <tilewright/gemm/epilogue.hpp>
#include <tilewright/gemm/operand_copy.hpp>
#include <tilewright/lds/lds_access.hpp>
#include <tilewright/mma/block_tile.hpp>
#include <tilewright/mma/fragment_store.hpp>
#include <tilewright/mma/wgmma_operand.hpp>

namespace tilewright {

/// A block computes m x n of C with `consumers` warpgroups of m / consumers x n each, and one more warpgroup that
/// starts copies. Blocks form clusters: `share_b` blocks above each other, which receive the same tile of B at once
/// (multicast), times `share_a` blocks side by side, which receive the same tile of A.
struct hopper_tile {
  index_t m = 128, n = 256;
  index_t share_b = 1, share_a = 1;
  index_t consumers = 2;

  TILEWRIGHT_HD constexpr index_t block_size() const { return (consumers + 1) * 128; }
  TILEWRIGHT_HD constexpr index_t cluster() const { return share_b * share_a; }

  /// Results of wgmma, 64 x n each, that a consumer has below each other; accumulators of each of its threads.
  TILEWRIGHT_HD constexpr index_t repeat_m() const { return m / (64 * consumers); }
  TILEWRIGHT_HD constexpr index_t accumulators() const { return repeat_m() * n / 2; }

  /// Two consumers take turns at the end of a tile: one multiplies while the other writes.
  TILEWRIGHT_HD constexpr bool takes_turns() const { return consumers == 2; }

  /// C leaves in boxes of 64 rows and so many columns.
  TILEWRIGHT_HD constexpr index_t store_n() const { return n % 64 == 0 && consumers < 3 ? 64 : 32; }
  TILEWRIGHT_HD constexpr index_t boxes_per_row() const { return n / store_n(); }
  TILEWRIGHT_HD constexpr index_t boxes_of_consumer() const { return repeat_m() * boxes_per_row(); }
  TILEWRIGHT_HD constexpr index_t num_boxes() const { return consumers * boxes_of_consumer(); }

  /// The order in which a tile's boxes leave: one consumer after the other if they take turns,
  /// else a box of each in turn.
  TILEWRIGHT_HD constexpr index_t box_number(index_t consumer, index_t box) const {
    return takes_turns() ? consumer * boxes_of_consumer() + box : box * consumers + consumer;
  }
  struct position {
    index_t m, n, consumer;
  };
  /// Where box `number` begins in the tile, and whose it is.
  TILEWRIGHT_HD constexpr position box_position(index_t number) const {
    const index_t consumer = takes_turns() ? divide(number, boxes_of_consumer()) : modulo(number, consumers);
    const index_t box = takes_turns() ? modulo(number, boxes_of_consumer()) : divide(number, consumers);
    return {(consumer * repeat_m() + divide(box, boxes_per_row())) * 64, modulo(box, boxes_per_row()) * store_n(),
            consumer};
  }

  /// Registers of each thread: what the copying warpgroup keeps, what consumers take.
  TILEWRIGHT_HD constexpr index_t producer_registers() const { return 40; }
  TILEWRIGHT_HD constexpr index_t consumer_registers() const { return consumers == 2 ? 232 : 152; }

  TILEWRIGHT_HD constexpr bool is_sound() const {
    const bool known_n = n == 64 || n == 128 || n == 160 || n == 192 || n == 256;
    if (consumers < 1 || consumers > 3 || m < 64 * consumers || m % (64 * consumers) != 0 || !known_n) return false;
    const bool room = accumulators() <= (consumers == 3 ? 96 : 160);
    return room && is_power_of_two(cluster()) && cluster() <= 8 && n % (8 * share_b) == 0 && m % (8 * share_a) == 0;
  }
  friend constexpr bool operator==(const hopper_tile&, const hopper_tile&) = default;
};

/// Where everything lies in a block's LDS, in bytes: stages of A and B; boxes of C, 64 rows each; barriers.
struct hopper_lds {
  hopper_tile tile;
  wgmma_operand a, b;
  index_t result_bytes;  // of an element of C

  TILEWRIGHT_HD constexpr index_t stage_bytes() const { return a.bytes() + b.bytes(); }
  TILEWRIGHT_HD constexpr index_t box_bytes() const { return 64 * tile.store_n() * result_bytes; }
  static constexpr index_t barrier_bytes = 512;

  /// As many stages as fit beside two boxes for each consumer; then as many boxes as fit beside them and divide those
  /// of the tile: so each box has one place for all tiles.
  TILEWRIGHT_HD constexpr index_t num_stages() const {
    return min(12, (room() - 2 * tile.consumers * box_bytes()) / stage_bytes());
  }
  TILEWRIGHT_HD constexpr index_t num_boxes() const {
    index_t n = min(10, (room() - num_stages() * stage_bytes()) / box_bytes());
    while (modulo(tile.num_boxes(), n) != 0) --n;
    return n;
  }
  /// Of 8 bytes: two for each stage; for each box two and one for each consumer.
  TILEWRIGHT_HD constexpr index_t num_barriers() const { return 2 * num_stages() + (2 + tile.consumers) * num_boxes(); }
  TILEWRIGHT_HD constexpr index_t boxes_offset() const { return num_stages() * stage_bytes(); }
  TILEWRIGHT_HD constexpr index_t barriers_offset() const { return boxes_offset() + num_boxes() * box_bytes(); }
  TILEWRIGHT_HD constexpr index_t bytes() const { return barriers_offset() + barrier_bytes; }

  /// A wave's 16 rows of a box.
  TILEWRIGHT_HD constexpr swizzled_layout box_layout() const {
    return bulk_swizzle(16, tile.store_n() * result_bytes, result_bytes);
  }

 private:
  TILEWRIGHT_HD static constexpr index_t room() { return arch::sm90::value.lds_bytes - barrier_bytes; }
};

/// The accumulators of wgmma are those of mma.m16n8k16, 16 rows for each wave.
inline constexpr arch::lane_map wgmma_result = arch::describe(arch::matrix_op::mma_m16n8k16_x2).c;

/// Everything that hopper_gemm must know at compile time.
template <class T, operand_major AMajor, operand_major BMajor, hopper_tile Tile, class Result = T,
          class Epilogue = epilogue::alpha_beta>
struct hopper_policy {
  static_assert(Tile.is_sound(),
                "hopper_policy: m is a multiple of 64 for each of 1 to 3 consumers, n is 64, 128, 160, 192 or 256, "
                "with at most 160 accumulators for each thread (96 with 3 consumers); a cluster has at most 8 blocks, "
                "a power of two");
  static_assert(sizeof(T) == 2 || (AMajor == operand_major::k && BMajor == operand_major::k),
                "hopper_policy: operands of 8 bits must be contiguous along k");
  using element_type = T;
  using result_type = Result;
  using epilogue = Epilogue;
  static constexpr hopper_tile tile = Tile;
  static constexpr operand_major a_major = AMajor, b_major = BMajor;
  static constexpr hopper_lds lds{Tile,
                                  {Tile.m, sizeof(T), AMajor == operand_major::k},
                                  {Tile.n, sizeof(T), BMajor == operand_major::k},
                                  sizeof(Result)};
  static constexpr index_t num_stages = lds.num_stages();
  static constexpr index_t tile_k = lds.a.k();
  static_assert(lds.a.is_sound() && lds.b.is_sound() && is_bulk_swizzle(lds.box_layout()),
                "hopper_policy: the layouts in LDS are not those of wgmma and of bulk copies");
  static_assert(num_stages >= 2 && lds.bytes() <= arch::sm90::value.lds_bytes,
                "hopper_policy: the block tile needs more LDS than the GPU has; use a smaller one");
  static_assert(lds.stage_bytes() % 1024 == 0 && 8 * lds.num_barriers() <= hopper_lds::barrier_bytes);

  /// Sums of a thread: 4 waves of each consumer, as mma.m16n8k16 would leave them.
  using accumulators_type =
      static_distributed_tensor<float,
                                tile_distribution<c_encoding_v<block_tile{Tile.m, Tile.n, tile_k, 4 * Tile.consumers, 1,
                                                                          arch::matrix_op::mma_m16n8k16_x2}>>>;

  /// Registers of a wave's rows of a box, and who addresses them when they are written.
  static constexpr distribution_encoding box = wave_tile_encoding(Tile.store_n() / 16, wgmma_result);
  static constexpr distribution_encoding box_addresses =
      wave_tile_encoding(Tile.store_n() / 16, ldmatrix_address_map(wgmma_result));
};

/// What it costs a wave to write its rows of a box to LDS.
template <class Policy>
TILEWRIGHT_HD constexpr lds_access_analysis predict_box_store() {
  return analyze_lds_access<arch::sm90>(make_lds_descriptor<Policy::lds.box_layout()>(),
                                        tile_distribution<Policy::box_addresses>{},
                                        sizeof(typename Policy::result_type), lds_access_kind::stmatrix);
}

}  // namespace tilewright
