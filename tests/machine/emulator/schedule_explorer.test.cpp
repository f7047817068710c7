// SPDX-License-Identifier: MIT
// Explored schedules: how many there are, and faults that the default order of threads does not show.
#include <tilewright/core/arch/arch.hpp>
#include <tilewright/machine/emulator/launch.hpp>
#include <tilewright/machine/emulator/schedule_explorer.hpp>
#include <tilewright/machine/exec/hopper.hpp>
#include <tilewright/machine/exec/host/make_tensor_map.hpp>

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>

namespace tilewright {
namespace {

template <class Kernel>
void run(Kernel kernel, index_t threads = 128) {
  emulator::launch({.target = &arch::sm90::value,
                    .grid = {1},
                    .block_size = threads,
                    .lds_bytes = 8192,
                    .check_lds = emulator::lds_checks::on},
                   kernel);
}

/// The wave that comes first writes numbers, which both read. The writer says that they are there; or wave 1 does,
/// which is the writer by chance.
void write_and_read(bool writer_arrives) {
  index_t arrived = 0;
  run(
      [&] {
        const exec::lds_pointer lds = exec::lds_allocate<1024>();
        const exec::mbarrier written{0};
        if (exec::thread_id() == 0) written.init(1), exec::fence_barrier_init();
        exec::block_sync();
        const index_t lane = exec::lane_id();
        const bool is_first = exec::shuffle(lane == 0 ? arrived++ : 0, 0) == 0;
        if (is_first) exec::lds_store(lds, 512 + lane * 4, lane);
        exec::wave_sync();
        if (lane == 0 && (writer_arrives ? is_first : exec::wave_id() == 1)) written.arrive();
        written.wait(0);
        exec::lds_load<index_t>(lds, 512 + lane * 4);
      },
      64);
}

TEST(ScheduleExplorer, FindsWavesThatComeInAnotherOrder) {
  write_and_read(false);  // the default order: not noticed
  const auto explore = [](bool right) {
    return emulator::explore({.deviations = 1, .max_schedules = 100}, [=] { write_and_read(right); });
  };
  std::string found;
  try {
    explore(false);
  } catch (const emulator::fault& f) {
    found = f.what();
  }
  EXPECT_NE(found.find("reads LDS bytes"), found.npos) << found;
  EXPECT_NE(found.find(" [schedule: late copies, waves "), found.npos) << found;
  const emulator::exploration right = explore(true);
  EXPECT_TRUE(right.is_complete);
  EXPECT_EQ(right.orders, 2);
}

// Three waves that do not wait: each of them may be first, then each of the two others.
TEST(ScheduleExplorer, RunsEveryOrderOnce) {
  const auto orders = [](index_t deviations, index_t max_schedules, emulator::exploration& result) {
    std::multiset<std::string> all;
    result = emulator::explore({.deviations = deviations, .max_schedules = max_schedules}, [&] {
      std::string order;
      run(
          [&] {
            if (exec::lane_id() == 0) order += char('a' + exec::wave_id());
          },
          96);
      all.insert(order);
    });
    return all;
  };
  emulator::exploration result;
  EXPECT_EQ(orders(0, 1, result), (std::multiset<std::string>{"abc"}));
  EXPECT_FALSE(result.is_complete);  // the other three bases are left
  EXPECT_EQ(orders(0, 10, result), (std::multiset<std::string>{"abc", "abc", "acb", "acb"}));
  EXPECT_TRUE(result.is_complete);
  EXPECT_EQ(result.orders, 2);
  // Both directions, with and without early copies: another wave first, or the first one last.
  const std::multiset<std::string> once = orders(1, 100, result);
  EXPECT_EQ(std::set(once.begin(), once.end()), (std::set<std::string>{"abc", "acb", "bac", "bca", "cab", "cba"}));
  EXPECT_TRUE(result.is_complete);
  EXPECT_EQ(result.orders, 6);
  EXPECT_EQ(orders(1, 6, result).size(), 6u);
  EXPECT_FALSE(result.is_complete);
}

// Wave 1 lets wave 0 continue and waits at a barrier itself. Wave 2, which has not run, comes before wave 0.
TEST(ScheduleExplorer, BeginsWithTheOrderOfOtherLaunches) {
  const auto order_of = [](auto launch) {
    std::string order;
    launch([&] {
      run(
          [&] {
            const exec::mbarrier first{0};
            const auto note = [&](char step) {
              if (exec::lane_id() == 0) order += {char('a' + exec::wave_id()), step};
            };
            exec::lds_allocate<1024>();
            if (exec::thread_id() == 0) first.init(1), exec::fence_barrier_init();
            exec::block_sync();
            note('1');
            if (exec::wave_id() == 0) first.wait(0);
            if (exec::thread_id() == 32) first.arrive();
            exec::named_sync<64>(1 + exec::wave_id() / 2);
            note('2');
          },
          128);
    });
    return order;
  };
  const std::string others = order_of([](auto kernel) { kernel(); });
  EXPECT_EQ(others, "d1a1b1c1c2d2a2b2");
  const std::string explored =
      order_of([](auto kernel) { emulator::explore({.deviations = 0, .max_schedules = 1}, kernel); });
  EXPECT_EQ(explored, others);
}

/// Each block writes a number, and the last one to arrive, or that of the highest number, adds them up.
void sum_of_blocks(bool by_the_last) {
  constexpr index_t blocks = 3;
  std::array<int, blocks> numbers{};
  int sum = 0;
  unsigned counter = 0;
  emulator::launch({.target = &arch::gfx942::value,
                    .grid = {blocks},
                    .block_size = 64,
                    .lds_bytes = 64,
                    .check_lds = emulator::lds_checks::on},
                   [&] {
                     const exec::lds_pointer lds = exec::lds_allocate<64>();
                     const exec::global_buffer memory = exec::make_global_buffer(numbers.data(), sizeof(numbers));
                     const index_t block = exec::block_id().x;
                     if (exec::thread_id() == 0) exec::buffer_store(memory, block * 4, 1 + block);
                     const bool is_last = exec::is_last_arrival(&counter, blocks, lds);
                     if (exec::thread_id() != 0 || !(by_the_last ? is_last : block == blocks - 1)) return;
                     for (index_t b = 0; b < blocks; ++b) sum += exec::buffer_load<int>(memory, b * 4);
                   });
  EXPECT_EQ(sum, 6);
}

// In other launches blocks run in ascending order, and that of the highest number is the last one.
TEST(ScheduleExplorer, FindsBlocksThatComeInAnotherOrder) {
  sum_of_blocks(false);
  const auto explore = [](bool right) {
    return emulator::explore({.deviations = 0, .max_schedules = 4}, [=] { sum_of_blocks(right); });
  };
  std::string found;
  try {
    explore(false);
  } catch (const emulator::fault& f) {
    found = f.what();
  }
  EXPECT_NE(found.find("and nothing orders these blocks"), found.npos) << found;
  EXPECT_NE(found.find("blocks backward"), found.npos) << found;
  EXPECT_TRUE(explore(true).is_complete);
}

// Blocks that wait for lower ones run in ascending order.
TEST(ScheduleExplorer, LeavesTheOrderOfBlocksThatWait) {
  unsigned counter = 0;
  const emulator::exploration explored = emulator::explore({.deviations = 0, .max_schedules = 4}, [&] {
    counter = 0;
    emulator::launch({.target = &arch::sm90::value, .grid = {3}, .block_size = 32}, [&] {
      if (exec::thread_id() != 0) return;
      exec::wait_for_count(&counter, unsigned(exec::block_id().x));
      exec::add_release(&counter, 1);
    });
  });
  EXPECT_EQ(explored.schedules, 4);
}

/// A ring of two stages that one thread fills by TMA and another wave reads.
struct ring {
  alignas(128) std::array<int, 4096> numbers{};
  exec::tensor_map map{};

  ring() {
    exec::make_tensor_map(map, {numbers.data(), arch::matrix_element::f16, {64, 64, 1}, {128, 8192}, {64, 16}});
  }

  /// two_arrive: both waves that read a stage release it.
  void run_kernel(bool two_arrive) {
    run(
        [&] {
          exec::lds_allocate<8192>();
          const auto full = [](unsigned stage) { return exec::mbarrier{stage * 8}; };
          const auto empty = [](unsigned stage) { return exec::mbarrier{16 + stage * 8}; };
          if (exec::thread_id() == 0) {
            for (unsigned s = 0; s < 2; ++s) full(s).init(1), empty(s).init(two_arrive ? 2 : 1);
            exec::fence_barrier_init();
          }
          exec::block_sync();
          for (unsigned i = 0; i < 5; ++i) {
            const unsigned stage = i % 2, phase = i / 2 % 2;
            if (exec::thread_id() == 0) {
              empty(stage).wait(phase ^ 1);
              full(stage).arrive_and_expect(2048);
              exec::tma_load(1024 + 2048 * stage, map, full(stage), 0, index_t(16 * (i % 4)), 0);
            }
            if (exec::wave_id() != 1 && exec::wave_id() != 2) continue;
            full(stage).wait(phase);
            exec::lds_load<int>({1024 + 2048 * index_t(stage)}, exec::lane_id() * 4);
            exec::wave_sync();
            if (exec::lane_id() == 0 && (two_arrive || exec::wave_id() == 1)) empty(stage).arrive();
          }
        },
        96);
  }
};

TEST(ScheduleExplorer, ARingPassesInEveryOrder) {
  ring r;
  const emulator::exploration all =
      emulator::explore({.deviations = 1, .max_schedules = 400}, [&] { r.run_kernel(true); });
  EXPECT_TRUE(all.is_complete);
  EXPECT_GT(all.orders, 40);  // copies arrive early or late, and either wave reads first
  EXPECT_THROW(emulator::explore({.deviations = 1, .max_schedules = 400}, [&] { r.run_kernel(false); }),
               emulator::fault);
}

}  // namespace
}  // namespace tilewright
