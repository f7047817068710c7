// SPDX-License-Identifier: MIT
// The order in which the two consumers of a block issue MMAs, so that one multiplies while the other stores C.
#pragma once

#include <tilewright/block/pipeline/order_barrier.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_gemm_block.hpp>
#include <tilewright/machine/exec/hopper.hpp>

#if TILEWRIGHT_HOPPER_PASS
namespace tilewright::detail {

/// Named barriers of a block; 0 is block_sync's.
enum named_barrier : index_t {
  warps_of_consumer = 1,  // and 2: the four warps of consumer 0, and of consumer 1
  consumers_in_order = 4  // and 5
};

/// One consumer: nothing to order.
struct single_consumer_order {
  index_t consumer;

  /// Whether a work tile is this consumer's, which may then begin.
  template <class Work>
  TILEWRIGHT_HD bool begin(const Work&, index_t) {
    return true;
  }
  /// Whether to wait() before k tile k.
  TILEWRIGHT_HD bool is_due(index_t) const { return false; }
  TILEWRIGHT_HD void wait() const {}
  /// All MMAs of the work tile have been issued.
  TILEWRIGHT_HD void arrive() {}
  /// After the last work tile: every arrival has a wait.
  TILEWRIGHT_HD void drain() const {}
};

/// Two consumers of the same tiles. The second one issues the MMAs of the last k tiles after the first:
///
///   0 | MMAs of tile i            | arrive | store C      | MMAs of tile i + 1
///   1 | MMAs of tile i but the last | wait | the last ones | store C | ...
template <class Block>
struct shared_tile_order {
  /// k tiles that may be the last ones: they are in LDS at the same time. Block-scaled operands hold one longer.
  static constexpr index_t most_k_tiles = min(4, Block::num_stages - Block::is_block_scaled);

  index_t consumer;
  index_t first_ordered = 0;  // k tile
  bool has_to_arrive = false, has_arrived = false;

  TILEWRIGHT_HD order_barrier<2, consumers_in_order> barrier() const { return {consumer}; }
  template <class Work>
  TILEWRIGHT_HD bool begin(const Work& work, index_t ordered_k_tiles) {
    has_to_arrive = consumer == 0;
    first_ordered = max(work.k_begin, work.k_end - min(ordered_k_tiles, most_k_tiles));
    return true;
  }
  TILEWRIGHT_HD bool is_due(index_t k) const { return consumer == 1 && k == first_ordered; }
  TILEWRIGHT_HD void wait() const {
    barrier().wait();
    barrier().arrive();  // the first consumer may arrive again: where k is short it is a tile ahead
  }
  TILEWRIGHT_HD void arrive() {
    if (!has_to_arrive) return;
    if (has_arrived) barrier().wait();
    barrier().arrive();
    has_to_arrive = false;
    has_arrived = true;
  }
  TILEWRIGHT_HD void drain() const {
    if (has_arrived) barrier().wait();
  }
};

/// Each consumer computes every other tile, and begins when the other one has issued all MMAs of its own:
///
///   0 | MMAs of tile 0 | arrive -> store C      | wait | MMAs of tile 2 | arrive -> store C
///   1 |                  wait | MMAs of tile 1  | arrive -> store C     | wait | MMAs of tile 3 ...
struct ping_pong_order {
  index_t consumer;
  index_t tiles = 0;  // of the block so far

  TILEWRIGHT_HD order_barrier<2, consumers_in_order> barrier() const { return {consumer}; }
  template <class Work>
  TILEWRIGHT_HD bool begin(const Work&, index_t) {
    if (modulo(tiles++, 2) != consumer) return false;
    if (tiles > 1) barrier().wait();
    return true;
  }
  TILEWRIGHT_HD bool is_due(index_t) const { return false; }
  TILEWRIGHT_HD void wait() const {}
  TILEWRIGHT_HD void arrive() { barrier().arrive(); }
  TILEWRIGHT_HD void drain() const {
    if (tiles > 0 && modulo(tiles, 2) == consumer) barrier().wait();
  }
};

template <class Block>
using consumer_order =
    conditional_t<Block::tile.ping_pong, ping_pong_order,
                  conditional_t<Block::tile.orders_consumers(), shared_tile_order<Block>, single_consumer_order>>;

}  // namespace tilewright::detail
#endif
