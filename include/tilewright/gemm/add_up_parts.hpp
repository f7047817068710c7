// SPDX-License-Identifier: MIT
// Stream-K: blocks that computed parts of a tile along k add them up in memory.
#pragma once

#include <tilewright/exec/hopper.hpp>
#include <tilewright/gemm/specialized_plan.hpp>

#if TILEWRIGHT_HOPPER_PASS
namespace tilewright::detail {

/// Adds up the parts of a tile that was split along k; `sums` is this block's part. Parts but the last are left in
/// memory. The last one waits for them: they belong to blocks with lower numbers, which have started earlier.
/// True for the last.
template <class Block>
TILEWRIGHT_HD bool add_up_parts(typename Block::sums_type& sums, const typename Block::device_args& args,
                                const work_unit& unit, index_t rank, index_t consumer) {
  constexpr specialized_tile tile = Block::tile;
  float* const c = sums.thread_buffer.data();
  constexpr index_t vectors = tile.accumulators() / 4;  // of four accumulators, for each thread
  const index_t thread = modulo(exec::thread_id(), 128), barrier = 1 + divide(exec::thread_id(), 128);
  const auto pile = [&](index_t number) TILEWRIGHT_INLINE_LAMBDA {
    return (number * tile.cluster() + rank) * tile.sharing() + consumer;
  };
  // A wave writes and reads 512 bytes in a row.
  const auto part_of = [&](index_t sharer) TILEWRIGHT_INLINE_LAMBDA {
    return args.memory.parts + (long_index_t(pile(sharer)) * vectors * 128 + thread) * 4;
  };
  // A vector takes registers from a multiple of 4 on, as wgmma's do. With neighbours exchanged sums and the products
  // that are added to them are in different banks of the register file.
  const auto at = [](index_t j, index_t i)
                      TILEWRIGHT_INLINE_LAMBDA { return 4 * j + (Block::is_block_scaled ? i ^ 1 : i); };
  unsigned* const counter = args.memory.counters + pile(unit.split_tile);
  if (!unit.is_last_part()) {
    float* const mine = part_of(unit.sharer);
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
    const float* const others = part_of(unit.sharer - part);
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
