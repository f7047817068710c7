// SPDX-License-Identifier: MIT
// Stream-K fix-up: the peers of a split tile add up their partial sums in the workspace.
#pragma once

#include <tilewright/kernels/gemm/hopper/consumer_order.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_gemm_plan.hpp>
#include <tilewright/machine/exec/hopper.hpp>

#if TILEWRIGHT_HOPPER_PASS
namespace tilewright::detail {

/// Exchanges y of each lane without bit Mask for x of the lane with it.
template <index_t Mask>
TILEWRIGHT_HD void exchange(float& x, float& y) {
  const bool upper = (unsigned(exec::lane_id()) & unsigned(Mask)) != 0;
  const float other = exec::shuffle_xor<Mask>(upper ? x : y);
  x = upper ? other : x;
  y = upper ? y : other;
}

/// Writes a warp's partial sums to where C would be in the workspace; split_k_sum adds up those of all splits.
/// origin: the warp's first row and column, as the tile counts.
template <class Block, class Args>
TILEWRIGHT_HD void store_partial_c(const typename Block::accumulators& accumulators, const Args& args,
                                   const work_tile& work, const multi_index<2>& origin) {
  constexpr hopper_gemm_tile tile = Block::tile;
  constexpr bool swap_ab = tile.swap_ab;
  // Lanes exchange sums until each has four neighbours of a row of C.
  const index_t lane = exec::lane_id(), quad = divide(lane, 4), in_quad = modulo(lane, 4), ld = workspace_ld(args);
  const index_t m = origin[0] +
                    (swap_ab ? modulo(divide(quad, 2), 2) * 8 + divide(quad, 4) * 4 : quad + modulo(in_quad, 2) * 8),
                n = origin[1] + (swap_ab ? in_quad * 2 + modulo(quad, 2) : divide(in_quad, 2) * 4);
  const index_t m_stride = swap_ab ? 1 : ld, n_stride = swap_ab ? ld : 1;
  const index_t room_m = (swap_ab ? args.n : args.m) - m, room_n = (swap_ab ? args.m : args.n) - n;
  // Opaque, or it is computed again for each store. Rows beyond C may leave the range of 32 bits.
  const auto row = unsigned((work.split * args.batch + work.tile.batch) * args.m + (swap_ab ? n : m));
  const index_t first = exec::opaque(index_t(row * unsigned(ld) + unsigned(swap_ab ? m : n)));
  float* const partials = static_cast<float*>(args.workspace) + split_k_counters;
  const float* const c = accumulators.thread_buffer.data();
  TILEWRIGHT_UNROLL_ALL
  for (index_t i = 0; i < tile.accumulators(); i += 4) {
    const index_t m_step = i / (tile.n / 2) * (64 * tile.consumers_per_tile()), n_step = i % (tile.n / 2) * 2;
    float x[4] = {c[i], c[i + 1], c[i + 2], c[i + 3]};
    if constexpr (swap_ab) {
      exchange<4>(x[0], x[1]);
      exchange<4>(x[2], x[3]);
    }
    exchange<swap_ab ? 8 : 1>(x[0], x[2]);
    exchange<swap_ab ? 8 : 1>(x[1], x[3]);
    if (m_step < room_m && n_step < room_n)
      exec::store_to_l2(partials + (first + m_step * m_stride + n_step * n_stride), {{x[0], x[1], x[2], x[3]}});
  }
}

/// The fix-up of a consumer. Each peer but the last stores its partial sums of the tile (64 repeat_m rows x n, in the
/// order of its registers) to its slot and counts itself; the last one waits for that count and adds them up:
///
///   peer 0    | store_partial -> slot s     | counter += 1 (release) |
///   peer 1    | store_partial -> slot s + 1 | counter += 1 (release) |
///   last peer |                               wait: counter == 2 (acquire), counter = 0 | c += slots s + 1, s |
///   epilogue
template <class Block>
struct stream_k_fixup {
  static constexpr hopper_gemm_tile tile = Block::tile;
  static constexpr index_t vectors = tile.accumulators() / 4;  // of four accumulators, for each thread

  const typename Block::device_args& args;
  index_t rank, consumer;  // rank: of the block in its cluster; consumer: of its tile

  /// Whether c is complete, so that the caller stores it; not where another consumer or kernel completes it.
  template <class Work>
  TILEWRIGHT_HD bool operator()(typename Block::accumulators& c, const Work& work) const {
    if constexpr (Block::groups == group_kind::k) return true;
    if (work.splits == 1) return true;
    const index_t thread = modulo(exec::thread_id(), 128), barrier = warps_of_consumer + divide(exec::thread_id(), 128);
    if constexpr (Block::can_split_all_tiles) {
      if (args.schedule.splits > 1) {
        const index_t row0 = work.m0 + consumer * 64 + divide(thread, 32) * 16;
        store_partial_c<Block>(c, args.args, work, {{row0, work.n0}});
        return false;
      }
    }
    unsigned* const counter = args.memory.counters + index_in_workspace(work.split_tile);
    if (!work.is_last_split()) {
      store_partial(c, work.slot);
      exec::named_sync<128>(barrier);
      if (thread == 0) exec::add_release(counter, 1);
      return false;
    }
    if (thread == 0) {
      exec::guarantee_reset(counter);
      exec::wait_for_count(counter, unsigned(work.splits - 1));
      *counter = 0;
    }
    exec::named_sync<128>(barrier);
    [[maybe_unused]] constexpr index_t at_once = max(1, 128 / tile.accumulators());  // slots whose loads are in flight
    TILEWRIGHT_UNROLL(at_once)
    for (index_t peer = 1; peer < work.splits; ++peer) add_partial(c, work.slot - peer);
    return true;
  }

 private:
  TILEWRIGHT_HD index_t index_in_workspace(index_t slot) const {
    return (slot * tile.cluster() + rank) * tile.consumers_per_tile() + consumer;
  }
  /// A warp writes and reads 512 contiguous bytes.
  TILEWRIGHT_HD float* partials(index_t slot) const {
    return args.memory.partials +
           (long_index_t(index_in_workspace(slot)) * vectors * 128 + modulo(exec::thread_id(), 128)) * 4;
  }
  /// Accumulator i of vector j. A vector takes registers from a multiple of 4 on, as wgmma's do. With neighbours
  /// exchanged the scaled sums and the products that are added to them are in different banks of the register file.
  TILEWRIGHT_HD static constexpr index_t accumulator(index_t j, index_t i) {
    return 4 * j + (Block::is_block_scaled ? i ^ 1 : i);
  }
  TILEWRIGHT_HD void store_partial(const typename Block::accumulators& c, index_t slot) const {
    float* const to = partials(slot);
    const auto x = [&](index_t j, index_t i) TILEWRIGHT_INLINE_LAMBDA { return c.thread_buffer[accumulator(j, i)]; };
    TILEWRIGHT_UNROLL_ALL
    for (index_t j = 0; j < vectors; ++j) exec::store_to_l2(to + j * 512, {{x(j, 0), x(j, 1), x(j, 2), x(j, 3)}});
  }
  TILEWRIGHT_HD void add_partial(typename Block::accumulators& c, index_t slot) const {
    const float* const from = partials(slot);
    TILEWRIGHT_UNROLL_ALL
    for (index_t j = 0; j < vectors; ++j) {
      const array<float, 4> other = exec::load_from_l2(from + j * 512);
      TILEWRIGHT_UNROLL_ALL
      for (index_t i = 0; i < 4; ++i) c.thread_buffer[accumulator(j, i)] += other[i];
    }
  }
};

}  // namespace tilewright::detail
#endif
