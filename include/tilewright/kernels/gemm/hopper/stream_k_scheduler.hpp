// SPDX-License-Identifier: MIT
// Tile scheduler of a persistent block of warp_specialized_pipeline: its cluster's work tiles of a stream_k_schedule.
#pragma once

#include <tilewright/kernels/gemm/hopper/hopper_gemm_plan.hpp>
#include <tilewright/machine/exec/hopper.hpp>

#if TILEWRIGHT_HOPPER_PASS
namespace tilewright::detail {

/// Where a warp works: LDS of its block, the block's rank in its cluster, and whether it is the first of role load.
struct role_place {
  exec::lds_pointer lds;
  index_t rank;
  bool leads;
};

/// Each role iterates over the same work tiles with a scheduler of its own: `for (work_type work; tiles.next(work);)`.
template <class Block>
struct stream_k_scheduler {
  static constexpr hopper_gemm_tile tile = Block::tile;
  using work_type = typename Block::work_type;

  const typename Block::device_args& args;
  role_place place;
  index_t clusters = exec::num_blocks() / tile.cluster(), u = exec::block_id().x / tile.cluster(),
          end = args.schedule.num_work_tiles();

  TILEWRIGHT_HD static void init(exec::lds_pointer) {}
  /// Whether all lanes of a warp must call next() together; then one of them works where one is enough.
  static constexpr bool is_collective = false;

  /// Sets the next work tile, which may be empty; false: there is none. A loop that skips empty ones here would be one
  /// loop in another, for which ptxas writes code for warps that have diverged.
  TILEWRIGHT_HD bool next(work_type& work) {
    if (u >= end) return false;
    work = Block::work_at(args, u);
    locate_block<tile>(work, place.rank);
    u += clusters;
    return true;
  }
};

}  // namespace tilewright::detail
#endif
