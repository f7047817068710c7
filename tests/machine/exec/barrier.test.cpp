// SPDX-License-Identifier: MIT
// Hopper's barriers on the CPU: phases, clusters of blocks, counters in global memory, and what is said of those that
// wait forever.
#include "../emulator/fault_text.hpp"

#include <tilewright/core/arch/arch.hpp>
#include <tilewright/machine/emulator/launch.hpp>
#include <tilewright/machine/exec/hopper.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tilewright {
namespace {

struct shape {
  index_t blocks = 1, cluster = 1, threads = 128;
  int workers = 1;
  emulator::lds_checks checks = emulator::lds_checks::on;
};

template <class Kernel>
emulator::launch_report run(Kernel kernel, shape s = {}) {
  return emulator::launch({.target = &arch::sm90::value,
                           .grid = {s.blocks},
                           .cluster = s.cluster,
                           .block_size = s.threads,
                           .lds_bytes = 4096,
                           .workers = s.workers,
                           .check_lds = s.checks},
                          kernel);
}

/// What was wrong, with "(here)" for each line of this file.
template <class Kernel>
std::string fault_of(Kernel kernel, shape s = {}) {
  return testing_exec::fault_text("barrier.test.cpp", [&] { run(kernel, s); });
}

/// A barrier at byte 0, initialised by thread 0 and known to all.
exec::mbarrier barrier_for(index_t arrivals) {
  const exec::mbarrier b{exec::lds_address(exec::lds_allocate<4096>())};
  if (exec::thread_id() == 0) {
    b.init(arrivals);
    exec::fence_barrier_init();
  }
  exec::wave_sync();
  if (exec::num_blocks() > 1) {
    exec::cluster_sync();
  } else {
    exec::block_sync();
  }
  return b;
}

TEST(Barrier, AThreadPassesWhenAllHaveArrived) {
  std::vector<index_t> order;
  run([&] {
    const exec::mbarrier b = barrier_for(3);
    const index_t thread = exec::thread_id();
    if (thread == 0) {
      b.wait(1);  // counts as over
      order.push_back(-1);
    }
    exec::block_sync();  // the first phase must not end before this wait
    if (thread == 0) {
      b.wait(0);
      b.wait(0);  // is still the last one that has ended
    }
    if (thread == 0 || thread == 40 || thread == 41 || thread == 99) order.push_back(thread);
    if (thread == 40 || thread == 41 || thread == 99) b.arrive();
  });
  EXPECT_EQ(order, (std::vector<index_t>{-1, 99, 40, 41, 0}));
}

TEST(Barrier, TwoThreadsTakeTurnsByParity) {
  std::vector<index_t> order;
  run([&] {
    const exec::mbarrier b = barrier_for(1);
    const exec::mbarrier other{b.address + 8};
    if (exec::thread_id() == 0) other.init(1);
    exec::block_sync();
    if (exec::thread_id() % 32 != 0 || exec::thread_id() > 32) return;
    const bool first = exec::thread_id() == 0;
    for (unsigned i = 0; i < 5; ++i) {
      if (first) other.wait(~i & 1);
      if (!first) b.wait(i & 1);
      order.push_back(index_t(2 * i) + (first ? 0 : 1));
      (first ? b : other).arrive();
    }
  });
  EXPECT_EQ(order, (std::vector<index_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
}

TEST(Barrier, WhatAThreadDidBeforeItArrivedIsKnownAfterTheWait) {
  const auto kernel = [](bool arrives_late, bool waits) {
    const exec::mbarrier b = barrier_for(1);
    const exec::lds_pointer lds{};
    if (exec::thread_id() == 0) {
      if (!arrives_late) b.arrive();
      exec::lds_store(lds, 64, 5);
      if (arrives_late) b.arrive();
    }
    if (exec::thread_id() == 32) {
      if (waits) b.wait(0);
      exec::lds_load<int>(lds, 64);
    }
  };
  EXPECT_EQ(fault_of([&] { kernel(true, true); }), "no fault");
  const std::string race =
      "thread 32 of block (0, 0, 0) reads LDS bytes 64 to 67 (here) that thread 0 wrote (here) with no barrier between";
  EXPECT_EQ(fault_of([&] { kernel(false, true); }), race);
  EXPECT_EQ(fault_of([&] { kernel(true, false); }), race);
}

// Knowledge goes on through other barriers, and through wave_sync to the lane that arrives for its wave.
TEST(Barrier, OneLaneArrivesForItsWave) {
  const auto kernel = [](bool meets) {
    const exec::mbarrier b = barrier_for(1);
    const exec::lds_pointer lds{};
    if (exec::wave_id() == 0) {
      exec::lds_store(lds, 128 + 4 * exec::lane_id(), 5);
      if (meets) exec::wave_sync();
      if (exec::lane_id() == 0) b.arrive();
    }
    if (exec::wave_id() == 1) {
      if (exec::lane_id() == 0) b.wait(0);
      exec::named_sync<64>(3);
    }
    if (exec::wave_id() == 2) {
      exec::named_sync<64>(3);
      exec::lds_load<int>(lds, 128 + 4 * exec::lane_id());
    }
  };
  EXPECT_EQ(fault_of([&] { kernel(true); }), "no fault");
  EXPECT_EQ(
      fault_of([&] { kernel(false); }),
      "thread 95 of block (0, 0, 0) reads LDS bytes 252 to 255 (here) that thread 31 wrote (here) with no barrier "
      "between");
}

TEST(Barrier, NamedBarriersCountThreadsThatDoNotWait) {
  std::vector<index_t> order;
  const auto kernel = [&](index_t second_id) {
    const exec::lds_pointer lds = exec::lds_allocate<4096>();
    if (exec::wave_id() == 0) {
      exec::named_sync<64>(1);
      exec::lds_load<int>(lds, 0);
    }
    if (exec::wave_id() == 1) {
      if (exec::lane_id() == 0) exec::lds_store(lds, 0, 1);
      exec::wave_sync();
      exec::named_arrive<64>(second_id);
    }
    if (exec::lane_id() == 0) order.push_back(exec::wave_id());
  };
  EXPECT_EQ(fault_of([&] { kernel(1); }, {.threads = 64}), "no fault");
  EXPECT_EQ(order, (std::vector<index_t>{1, 0}));
  EXPECT_EQ(fault_of([&] { kernel(2); }, {.threads = 64}),
            "thread 0 of block (0, 0, 0) waits forever at a named barrier (here), where 32 of 64 threads have come");
  EXPECT_EQ(fault_of([&] { exec::wave_id() == 0 ? exec::named_sync<64>(1) : exec::named_sync<96>(1); }),
            "thread 32 of block (0, 0, 0) comes to the named barrier 1 (here) of 96 threads, where others wait for 64");
}

// A wave gives two others a buffer each, by one named barrier: the second arrival may come before the first one's wait.
TEST(Barrier, ArrivalsAtANamedBarrierFollowItsLastPhase) {
  const auto kernel = [](index_t second_id, bool waits_between) {
    if (exec::wave_id() == 0) {
      exec::named_arrive<64>(1);
      if (waits_between) exec::named_sync<64>(3);
      exec::named_arrive<64>(second_id);
      return;
    }
    exec::named_sync<64>(1);
    if (waits_between) exec::named_arrive<64>(3);
    exec::named_sync<64>(second_id);
  };
  EXPECT_EQ(fault_of([&] { kernel(2, false); }, {.threads = 64}), "no fault");
  EXPECT_EQ(fault_of([&] { kernel(1, true); }, {.threads = 64}), "no fault");
  EXPECT_EQ(
      fault_of([&] { kernel(1, false); }, {.threads = 64}),
      "thread 0 of block (0, 0, 0) comes to the named barrier 1 (here) when nothing orders that after the end of its "
      "last phase, in which it may then be counted");
}

TEST(Barrier, BlocksOfAClusterArriveAtEachOthersBarriers) {
  const auto kernel = [](bool stays) {
    const exec::mbarrier b = barrier_for(2);
    const index_t rank = exec::block_of_cluster();
    EXPECT_EQ(rank, exec::block_id().x % 2);
    exec::lds_store(exec::lds_pointer{}, 64 + 4 * exec::thread_id(), rank);
    exec::block_sync();
    if (exec::thread_id() < 2) b.arrive_at(exec::thread_id());
    b.wait(0);
    EXPECT_EQ(exec::lds_load<index_t>(exec::lds_pointer{}, 64), rank) << "each block has its own LDS";
    if (stays) exec::cluster_sync();
  };
  const shape pairs{.blocks = 4, .cluster = 2, .threads = 64};
  EXPECT_EQ(fault_of([&] { kernel(true); }, pairs), "no fault");
  EXPECT_EQ(fault_of([&] { kernel(false); }, pairs),
            "thread 0 of block 1 of the cluster (here) touches LDS of block 0, which may have left the kernel: a "
            "cluster_sync() at the end is missing");
}

TEST(Barrier, ABarrierMustBeKnownToTheCluster) {
  EXPECT_EQ(fault_of(
                [] {
                  const exec::mbarrier b{exec::lds_address(exec::lds_allocate<4096>())};
                  if (exec::thread_id() == 0) b.init(64);
                  exec::cluster_sync();  // without fence_barrier_init()
                  b.arrive();
                  exec::cluster_sync();
                },
                {.blocks = 2, .cluster = 2, .threads = 64}),
            "thread 63 of block (1, 0, 0) updates LDS bytes 0 to 7 (here) that thread 0 wrote (here) with no barrier "
            "between");
}

TEST(Barrier, Mistakes) {
  EXPECT_EQ(fault_of([] {
              const exec::mbarrier b = barrier_for(2);
              if (exec::thread_id() == 0) b.arrive_and_expect(64);
              if (exec::thread_id() == 32) b.wait(0);
            }),
            "thread 32 of block (0, 0, 0) waits forever at a barrier in LDS (here), where 1 of 2 arrivals and 64 bytes "
            "are missing");
  EXPECT_EQ(fault_of([] { exec::cluster_sync(); }, {.threads = 64, .checks = emulator::lds_checks::off}), "no fault");
  EXPECT_TRUE(testing_exec::is_refused("which gfx942 does not have", [] {
    emulator::launch({.target = &arch::gfx942::value, .block_size = 64}, [] { exec::cluster_sync(); });
  }));
  EXPECT_TRUE(testing_exec::is_refused("a row must be a whole number of them",
                                       [] { run([] {}, {.blocks = 3, .cluster = 2}); }));
}

TEST(Barrier, WhereThreadsWaitForEachOther) {
  const auto kernel = [] {  // not within a macro: that is one line
    const exec::mbarrier one = barrier_for(1), other{one.address + 8};
    if (exec::thread_id() == 0) other.init(2);
    exec::block_sync();
    if (exec::thread_id() == 0) {
      one.wait(0);
      other.arrive();
    } else if (exec::thread_id() < 64) {
      other.wait(0);
      one.arrive();
    }
  };
  EXPECT_EQ(fault_of(kernel),
            "thread 0 of block (0, 0, 0) waits forever at a barrier in LDS (here), where 1 of 1 arrivals are missing; "
            "thread 1 of block (0, 0, 0) waits at a barrier in LDS (here), where 2 of 2 arrivals are missing");
}

// Blocks wait for what blocks with lower numbers count, whoever runs them.
TEST(Barrier, CountersInGlobalMemory) {
  for (const int workers : {1, 3}) {
    for (int repeat = 0; repeat < 10; ++repeat) {
      unsigned counter = 0;
      std::vector<index_t> parts(8, -1);
      index_t sum = -1;
      run(
          [&] {
            const index_t block = exec::block_id().x;
            if (block < 7) {
              parts[std::size_t(block)] = block;
              exec::named_sync<32>(1);
              if (exec::thread_id() == 0) exec::add_release(&counter, 1);
            } else {
              if (exec::thread_id() == 0) {
                exec::wait_for_count(&counter, 7);
                sum = 0;
                for (index_t i = 0; i < 7; ++i) sum += parts[std::size_t(i)];
              }
            }
          },
          {.blocks = 8, .threads = 32, .workers = workers});
      EXPECT_EQ(sum, 21);
    }
  }
  unsigned counter = 0;
  EXPECT_EQ(fault_of(
                [&] {
                  if (exec::block_id().x == 0 && exec::thread_id() == 0) exec::wait_for_count(&counter, 1);
                  if (exec::block_id().x == 1 && exec::thread_id() == 0) exec::add_release(&counter, 1);
                },
                {.blocks = 2, .threads = 32}),
            "thread 0 of block (0, 0, 0) waits forever at a counter in global memory (here), which is 0 instead of 1 "
            "when all blocks before have ended");
}

}  // namespace
}  // namespace tilewright
