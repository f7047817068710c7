// SPDX-License-Identifier: MIT
// How the consumers of a block take turns at the tensor cores, so that one multiplies while another writes.
#pragma once

#include <tilewright/kernels/gemm/hopper/hopper_gemm_tile.hpp>
#include <tilewright/machine/exec/hopper.hpp>

#if TILEWRIGHT_HOPPER_PASS
namespace tilewright::detail {

/// The turns of one consumer. Two that share a tile alternate at its end: the second waits until the first has
/// multiplied, computes while the first writes, and writes while the first begins the next tile. Where each has tiles
/// of its own (ping-pong), it begins when the other one has waited for all stages of the tile before.
template <class Block>
struct consumer_turns {
  static constexpr hopper_gemm_tile tile = Block::tile;
  /// k tiles of a turn at the end of a tile, which are in LDS at the same time; block-scaled products hold one longer.
  static constexpr index_t head_start = min(4, Block::num_stages - Block::is_block_scaled);
  static constexpr index_t turn_barrier = 4, turn_taken_barrier = 5;  // 1 and 2 are add_up_parts's

  index_t consumer;
  bool gives = false, has_given = false;  // of two that share a tile
  index_t last_to_share = 0;
  index_t units = 0;  // of the block so far

  /// Whether the next unit of the block is this consumer's; it may then wait for its stages.
  template <class Unit, class Args>
  TILEWRIGHT_HD bool begin(const Unit& unit, const Args& args) {
    gives = tile.orders_consumers() && consumer == 0;
    last_to_share = max(unit.k_begin, unit.k_end - min(args.turn, head_start));
    if constexpr (tile.ping_pong) {
      if (modulo(units++, 2) != consumer) return false;
      if (units > 1) exec::named_sync<256>(turn_barrier + consumer);
    }
    return true;
  }
  /// Before k tile k.
  template <class Release>
  TILEWRIGHT_HD void take(index_t k, const Release& release) const {
    if (!tile.orders_consumers() || consumer == 0 || k != last_to_share) return;
    if constexpr (!Block::is_block_scaled) {
      exec::wgmma_wait<0>();
      release();
    }
    exec::named_sync<256>(turn_barrier);
    exec::named_arrive<256>(turn_taken_barrier);
  }
  /// Lets the other consumer multiply: this one has started its last products. In ping-pong it has then waited for all
  /// stages of its unit.
  TILEWRIGHT_HD void give() {
    if constexpr (tile.ping_pong) exec::named_arrive<256>(turn_barrier + 1 - consumer);
    if (!gives) return;
    // Where k is short the first consumer could arrive twice before the second has come.
    if (has_given) exec::named_sync<256>(turn_taken_barrier);
    exec::named_arrive<256>(turn_barrier);
    gives = false;
    has_given = true;
  }
  /// After the last unit: nobody arrives at a barrier at which nobody waits.
  TILEWRIGHT_HD void end() const {
    if (tile.orders_consumers() && has_given) exec::named_sync<256>(turn_taken_barrier);
    if (tile.ping_pong && units > 0 && modulo(units, 2) == consumer) exec::named_sync<256>(turn_barrier + consumer);
  }
};

}  // namespace tilewright::detail
#endif
