// SPDX-License-Identifier: MIT
// The kernel that waits until the other ranks' rows of an all-reduce have arrived.
#pragma once

#include <tilewright/arch/sm90.hpp>
#include <tilewright/gemm/gemm_args.hpp>
#include <tilewright/parallel/chunk_order.hpp>
#include <tilewright/parallel/wait_for_peer.hpp>

namespace tilewright::parallel {

/// Waits for flags[r * flags_of_rank + row * tile_stride + column] of all tiles of all ranks but this one to reach
/// `epoch`.
struct await_results_args {
  rank_of self;
  const unsigned* flags = nullptr;
  long_index_t flags_of_rank = 0;
  index_t tile_rows = 0, tile_cols = 0, tile_stride = 0;
  unsigned epoch = 0;
  peer_wait wait;
};

/// A ready kernel of one block.
struct await_results {
  using arch = tilewright::arch::sm90;
  using args_type = await_results_args;
  struct device_args : args_type {};
  static constexpr index_t block_size = 256, lds_bytes = 0;

  static constexpr const char* check(const args_type& args) {
    return args.flags && args.wait.status ? nullptr : "flags and wait.status must be given";
  }
  template <class Facts>
  static device_args prepare(const args_type& args, const Facts&) {
    return {args};
  }
  static constexpr grid_size grid(const args_type&) { return {1, 1, 1}; }

  TILEWRIGHT_HD void operator()([[maybe_unused]] const device_args& args) const {
#if TILEWRIGHT_CPU_PASS || defined(__CUDA_ARCH_FEAT_SM90_ALL)
    const index_t tiles = args.tile_rows * args.tile_cols;
    for (index_t i = exec::thread_id(); i < tiles * (args.self.ranks - 1); i += 256) {
      const index_t source = args.self.after(1 + divide(i, tiles)), tile = modulo(i, tiles);
      const index_t row = divide(tile, args.tile_cols);
      detail::wait_for_peer(
          args.flags + source * args.flags_of_rank + row * args.tile_stride + tile - row * args.tile_cols, args.epoch,
          args.wait);
    }
#endif
  }
};

}  // namespace tilewright::parallel
