// SPDX-License-Identifier: MIT
// What counters and flags order: waves of a block, GPUs, and their launches.
#include <tilewright/core/arch/arch.hpp>
#include <tilewright/machine/emulator/launch.hpp>
#include <tilewright/machine/exec/exec.hpp>
#include <tilewright/machine/exec/hopper.hpp>
#include <tilewright/machine/exec/host/make_tensor_map.hpp>

#include <gtest/gtest.h>

#include "../fault_text.hpp"

namespace tilewright {
namespace {

using testing_exec::is_refused;

void launch_wave(emulator::rank_group* ranks, index_t block_size, auto kernel) {
  emulator::launch({.target = &arch::sm90::value, .grid = {1}, .block_size = block_size, .workers = 1, .ranks = ranks},
                   kernel);
}

TEST(ClusterOrder, AWaveAcquiresWhatAnotherOneOfItsBlockReleases) {
  const auto run = [](bool waits) {
    alignas(16) float data[128] = {};
    unsigned counter = 0;
    launch_wave(nullptr, 64, [&] {
      const index_t lane = exec::lane_id();
      if (exec::wave_id() == 0) {
        exec::store_to_l2(data + 4 * lane, {{1, 2, 3, 4}});
        exec::wave_sync();
        if (lane == 0) exec::add_release(&counter, 1);
        return;
      }
      if (lane == 0 && waits) exec::wait_for_count(&counter, 1);
      exec::wave_sync();
      (void)exec::load_from_l2(data + 4 * lane);
    });
  };
  EXPECT_NO_THROW(run(true));
  EXPECT_TRUE(is_refused("with no barrier between", [&] { run(false); }));
}

/// How one GPU sends rows to another one: as it should, or with a mistake.
enum class mistake { none, flag_before_rows, released_to_own_gpu, acquired_from_own_gpu, one_lane_reads_early };

void send_rows(mistake m) {
  emulator::rank_group ranks(2);
  alignas(16) float data[128] = {};
  unsigned flag = 0;
  ranks.run([&](int rank) {
    launch_wave(&ranks, 32, [&] {
      const index_t lane = exec::lane_id();
      if (rank == 0) {
        exec::store_to_l2(data + 4 * lane, {{1, 2, 3, 4}});
        if (m != mistake::flag_before_rows) exec::wave_sync();
        if (lane == 0 && m != mistake::released_to_own_gpu) exec::set_flag(&flag, 1);
        if (lane == 0 && m == mistake::released_to_own_gpu) exec::add_release(&flag, 1);
        return;
      }
      if (lane == 0 && m == mistake::acquired_from_own_gpu)
        exec::wait_for_flag(&flag, 1, 1), exec::wait_for_count(&flag, 1);
      if (lane == 0) exec::wait_for_flag(&flag, 1, 1);
      if (m != mistake::one_lane_reads_early) exec::wave_sync();
      (void)exec::load_from_l2(data + 4 * lane);
    });
  });
}

TEST(ClusterOrder, AccessesOfGpusAreCompared) {
  EXPECT_NO_THROW(send_rows(mistake::none));
  for (const mistake m : {mistake::flag_before_rows, mistake::one_lane_reads_early})
    EXPECT_TRUE(is_refused("of another GPU", [&] { send_rows(m); }));
}

TEST(ClusterOrder, ScopesIncludeBothGpus) {
  EXPECT_TRUE(is_refused(
      " that another GPU has changed by add_release(), which releases to its own GPU only: use set_flag() or "
      "add_to_flag()",
      [] { send_rows(mistake::released_to_own_gpu); }));
  EXPECT_TRUE(
      is_refused(" that another GPU has changed: wait_for_count() acquires from its own GPU only, use wait_for_flag()",
                 [] { send_rows(mistake::acquired_from_own_gpu); }));
}

/// What the second launch does, with what another GPU has sent to the first one, needs no flag of its own.
TEST(ClusterOrder, LaunchesOfAGpuFollowEachOther) {
  const auto run = [](bool first_waits) {
    emulator::rank_group ranks(2);
    alignas(16) float data[128] = {};
    unsigned flag = 0;
    ranks.run([&](int rank) {
      launch_wave(&ranks, 32, [&] {
        if (rank == 0) exec::store_to_l2(data + 4 * exec::lane_id(), {{1, 2, 3, 4}}), exec::wave_sync();
        if (rank == 0 && exec::lane_id() == 0) exec::set_flag(&flag, 1);
        if (rank == 1 && exec::lane_id() == 0 && first_waits) exec::wait_for_flag(&flag, 1, 1);
      });
      if (rank == 1) ranks.sleep(rank);  // until the other one has ended
      if (rank == 1) launch_wave(&ranks, 32, [&] { (void)exec::load_from_l2(data + 4 * exec::lane_id()); });
    });
  };
  EXPECT_NO_THROW(run(true));
  EXPECT_TRUE(is_refused("nothing orders these GPUs", [&] { run(false); }));
}

// A TMA store may still write when a thread writes what is there already.
TEST(ClusterOrder, AWriteOfWhatIsThereDoesNotPrecedeATmaStore) {
  const auto run = [](bool waits) {
    alignas(16) float data[32] = {};
    exec::tensor_map map;
    exec::make_tensor_map(map, {data, arch::matrix_element::f32, {32, 1, 1}, {128, 128}, {32, 1}});
    emulator::launch({.target = &arch::sm90::value, .grid = {1}, .block_size = 32, .lds_bytes = 128, .workers = 1},
                     [&] {
                       const exec::lds_pointer lds = exec::lds_allocate<128>();
                       exec::lds_store(lds, exec::lane_id() * 4, 1.0f);
                       exec::fence_async_proxy();
                       exec::wave_sync();
                       if (exec::lane_id() != 0) return;
                       exec::tma_store(map, exec::lds_address(lds), 0, 0, 0);
                       exec::tma_store_commit();
                       if (waits) exec::tma_store_wait<0>();
                       exec::buffer_store(exec::make_global_buffer(data, 128), 0, 0.0f);
                       exec::tma_store_wait_read<0>();
                     });
  };
  EXPECT_NO_THROW(run(true));
  EXPECT_TRUE(is_refused("may not have written yet", [&] { run(false); }));
}

}  // namespace
}  // namespace tilewright
