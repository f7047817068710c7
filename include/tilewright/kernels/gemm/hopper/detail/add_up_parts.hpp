// SPDX-License-Identifier: MIT
// Stream-K: blocks that computed parts of a tile along k add them up in memory.
#pragma once

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

/// Writes a wave's sums, from `origin` on as the tile counts, to the workspace, where sum_of_parts adds them up.
template <class Block, class Args>
TILEWRIGHT_HD void leave_part(const typename Block::sums_type& sums, const Args& args, const work_tile& unit,
                              const multi_index<2>& origin) {
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
  const auto row = unsigned((unit.part * args.batch + unit.tile.batch) * args.m + (swap_ab ? n : m));
  const index_t first = exec::opaque(index_t(row * unsigned(ld) + unsigned(swap_ab ? m : n)));
  float* const parts = static_cast<float*>(args.workspace) + split_k_counters;
  const float* const c = sums.thread_buffer.data();
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
      exec::store_to_l2(parts + (first + m_step * m_stride + n_step * n_stride), {{x[0], x[1], x[2], x[3]}});
  }
}

/// Adds up the parts of a tile that was split along k; `sums` is this block's part. Parts but the last are left in
/// memory. The last one waits for them: they belong to blocks with lower numbers, which have started earlier.
/// True for the last. Where another kernel adds up, all parts are left for it; this wave's begins at `origin`.
template <class Block>
TILEWRIGHT_HD bool add_up_parts(typename Block::sums_type& sums, const typename Block::device_args& args,
                                const work_tile& unit, const multi_index<2>& origin, index_t rank, index_t consumer) {
  constexpr hopper_gemm_tile tile = Block::tile;
  float* const c = sums.thread_buffer.data();
  constexpr index_t vectors = tile.accumulators() / 4;  // of four accumulators, for each thread
  const index_t thread = modulo(exec::thread_id(), 128), barrier = 1 + divide(exec::thread_id(), 128);
  const auto pile = [&](index_t number) TILEWRIGHT_INLINE_LAMBDA {
    return (number * tile.cluster() + rank) * tile.consumers_per_tile() + consumer;
  };
  // A wave writes and reads 512 bytes in a row.
  const auto part_at = [&](index_t slot) TILEWRIGHT_INLINE_LAMBDA {
    return args.memory.parts + (long_index_t(pile(slot)) * vectors * 128 + thread) * 4;
  };
  // A vector takes registers from a multiple of 4 on, as wgmma's do. With neighbours exchanged sums and the products
  // that are added to them are in different banks of the register file.
  const auto at = [](index_t j, index_t i)
                      TILEWRIGHT_INLINE_LAMBDA { return 4 * j + (Block::is_block_scaled ? i ^ 1 : i); };
  if constexpr (splits_all_tiles<Block>) {
    if (args.schedule.parts > 1) {
      leave_part<Block>(sums, args.args, unit, origin);
      return false;
    }
  }
  unsigned* const counter = args.memory.counters + pile(unit.split_tile);
  if (!unit.is_last_split()) {
    float* const mine = part_at(unit.slot);
    TILEWRIGHT_UNROLL_ALL
    for (index_t j = 0; j < vectors; ++j)
      exec::store_to_l2(mine + j * 512, {{c[at(j, 0)], c[at(j, 1)], c[at(j, 2)], c[at(j, 3)]}});
    exec::named_sync<128>(barrier);
    if (thread == 0) exec::add_release(counter, 1);
    return false;
  }
  if (thread == 0) {
    exec::wait_for_count(counter, unsigned(unit.parts - 1));
    *counter = 0;
  }
  exec::named_sync<128>(barrier);
  [[maybe_unused]] constexpr index_t at_once = max(1, 128 / tile.accumulators());  // parts whose loads are in flight
  TILEWRIGHT_UNROLL(at_once)
  for (index_t part = 1; part < unit.parts; ++part) {
    const float* const others = part_at(unit.slot - part);
    TILEWRIGHT_UNROLL_ALL
    for (index_t j = 0; j < vectors; ++j) {
      const array<float, 4> other = exec::load_from_l2(others + j * 512);
      TILEWRIGHT_UNROLL_ALL
      for (index_t i = 0; i < 4; ++i) c[at(j, i)] += other[i];
    }
  }
  return true;
}

}  // namespace tilewright::detail
#endif
