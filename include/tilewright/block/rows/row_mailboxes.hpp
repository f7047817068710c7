// SPDX-License-Identifier: MIT
// All-reduce of a row's sums over the waves of all of its blocks, one row after another.
#pragma once

#include <tilewright/block/rows/row_cluster.hpp>
#include <tilewright/core/base/array.hpp>
#include <tilewright/tile/registers/reduce_threads.hpp>

namespace tilewright::detail {

/// All-reduce slots: each of `Waves` waves of each of the row's blocks writes values of 4 bytes, and all read them.
/// Values of one row are read before those of the next are posted. On Hopper a wave waits until the others have posted,
/// not until they get here.
template <class Arch, index_t Blocks, index_t Waves, index_t Values>
struct row_mailboxes {
  static constexpr bool has_barriers = Arch::value.has_wgmma;
  static constexpr index_t mailboxes = Waves * Blocks, bytes = Values * mailboxes * 4;
  static constexpr index_t lds_bytes = 2 * (bytes + exec::mbarrier::bytes);

  exec::lds_pointer lds;
  unsigned count = 0;  // of the row that is posted next

  /// By all threads, before the first post.
  TILEWRIGHT_HD void start() const {
    if constexpr (has_barriers) {
      constexpr index_t arrivals = Blocks > 1 ? 1 : Waves;
      if (exec::thread_id() == 0) barrier(0).init(arrivals), barrier(1).init(arrivals), exec::fence_barrier_init();
      Blocks > 1 ? exec::cluster_sync() : exec::block_sync();
    }
  }
  /// `values`: the same in all lanes of the wave.
  TILEWRIGHT_HD void post(const array<float, Values>& values) {
    const index_t wave = block_of_row<Blocks>() * Waves + exec::wave_id(), lane = exec::lane_id();
    if constexpr (has_barriers) exec::wave_sync();  // all lanes have read what was posted before
    if (Blocks > 1 && exec::thread_id() == 0) barrier(count % 2).arrive_and_expect(bytes);
    TILEWRIGHT_UNROLL_ALL
    for (index_t v = 0; v < Values; ++v) {
      const index_t place = index_t(count % 2) * bytes + (v * mailboxes + wave) * 4;
      if constexpr (Blocks > 1) {
        if (lane < Blocks) exec::lds_store_in(lane, lds, place, values[v], barrier(count % 2));
      } else {
        if (lane == 0) exec::lds_store(lds, place, values[v]);
      }
    }
    if (has_barriers && Blocks == 1 && lane == 0) barrier(count % 2).arrive();
    ++count;
  }
  /// Sums over all waves of what they posted last.
  template <index_t Wave>
  TILEWRIGHT_HD array<float, Values> sums() const {
    constexpr index_t lanes = min(mailboxes, Wave);
    const unsigned latest = count - 1;
    if constexpr (has_barriers) {
      barrier(latest % 2).wait(latest / 2 % 2);
    } else {
      exec::block_sync();
    }
    array<float, Values> result{};
    TILEWRIGHT_UNROLL_ALL
    for (index_t v = 0; v < Values; ++v) {
      for (index_t p = modulo(exec::lane_id(), lanes); p < mailboxes; p += lanes)
        result[v] += exec::lds_load<float>(lds, index_t(latest % 2) * bytes + (v * mailboxes + p) * 4);
      result[v] = combine_lanes<1, lanes>(result[v], plus);
    }
    return result;
  }

 private:
  TILEWRIGHT_HD exec::mbarrier barrier(unsigned i) const {
    return {exec::lds_address(lds + (2 * bytes + index_t(i) * exec::mbarrier::bytes))};
  }
};

}  // namespace tilewright::detail
