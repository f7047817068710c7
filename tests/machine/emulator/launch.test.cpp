// SPDX-License-Identifier: MIT
// Grids on the CPU: many blocks at a time, progress, refused configurations.
#include <tilewright/core/arch/arch.hpp>
#include <tilewright/machine/emulator/launch.hpp>
#include <tilewright/machine/exec/exec.hpp>
#include <tilewright/machine/exec/hopper.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace tw = tilewright;
namespace arch = tw::arch;
namespace emulator = tw::emulator;
namespace exec = tw::exec;
using tw::index_t;

namespace {

std::string refusal_of(const emulator::launch_config& config) {
  try {
    emulator::launch(config, [] {});
  } catch (const emulator::fault& f) {
    return f.what();
  }
  return "no fault";
}

/// Whether thread 0 sees what thread 70 writes, without a barrier between.
bool reads_late(std::uint64_t seed) {
  int seen = 0;
  emulator::launch({.target = &arch::gfx942::value,
                    .grid = {1, 1, 1},
                    .block_size = 128,
                    .lds_bytes = 4,
                    .check_lds = emulator::lds_checks::off,
                    .schedule_seed = seed},
                   [&] {
                     const exec::lds_pointer lds = exec::lds_allocate<4>();
                     if (exec::thread_id() == 70) exec::lds_store(lds, 0, 1);
                     if (exec::thread_id() == 0) seen = exec::lds_load<int>(lds, 0);
                     exec::block_sync();
                   });
  return seen == 1;
}

TEST(Launch, RunsThreadsInAnOrderThatTheSeedFixes) {
  EXPECT_FALSE(reads_late(0)) << "in the order of their numbers";
  int late = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    EXPECT_EQ(reads_late(seed), reads_late(seed)) << seed;
    late += reads_late(seed);
  }
  EXPECT_TRUE(late > 0 && late < 20) << late << " of 20 seeds";
  EXPECT_EQ(setenv("TILEWRIGHT_SCHEDULE_SEED", "7", 1), 0);
  EXPECT_EQ(reads_late(0), reads_late(7));
  EXPECT_EQ(unsetenv("TILEWRIGHT_SCHEDULE_SEED"), 0);
  try {
    emulator::launch({.target = &arch::gfx942::value, .grid = {1, 1, 1}, .block_size = 64, .schedule_seed = 9},
                     [] { exec::lds_store(exec::lds_pointer{}, 0, 1); });
    FAIL() << "no fault";
  } catch (const emulator::fault& f) {
    const std::string text = f.what();
    EXPECT_NE(text.find(" [threads in the order of schedule_seed 9]"), std::string::npos) << text;
  }
}

TEST(Launch, RefusesWhatTheTargetCannotRun) {
  const arch::target* gfx942 = &arch::gfx942::value;
  EXPECT_EQ(refusal_of({.block_size = 64}), "launch: no target is named");
  EXPECT_EQ(refusal_of({.target = gfx942, .block_size = 96}),
            "launch: a block of 96 threads is not a whole number of gfx942's waves of 64");
  EXPECT_EQ(refusal_of({.target = gfx942}),
            "launch: a block of 0 threads is not a whole number of gfx942's waves of 64");
  EXPECT_EQ(refusal_of({.target = gfx942, .block_size = 2048}),
            "launch: a block of 2048 threads is more than the 1024 that gfx942 allows");
  EXPECT_EQ(refusal_of({.target = gfx942, .block_size = 64, .lds_bytes = 65537}),
            "launch: 65537 bytes of LDS for a block, but gfx942 has 65536");
  EXPECT_EQ(refusal_of({.target = gfx942, .grid = {4, 0, 1}, .block_size = 64}),
            "launch: a grid of (4, 0, 1) blocks is empty");
  EXPECT_EQ(refusal_of({.target = gfx942, .grid = {4, 1, 0}, .block_size = 64}),
            "launch: a grid of (4, 1, 0) blocks is empty");
  for (const arch::target* target : arch::all_targets) {
    EXPECT_EQ(refusal_of({.target = target, .block_size = 1024, .lds_bytes = target->lds_bytes}), "no fault")
        << target->name;
  }
}

/// Sums each block's share of the input through LDS.
struct block_sum {
  const std::vector<int>& input;
  std::vector<int>& output;

  void operator()() const {
    const exec::lds_pointer lds = exec::lds_allocate<256 * 4>();
    const index_t t = exec::thread_id(), block = exec::block_id().x;
    exec::lds_store(lds, t * 4, input[std::size_t(block * 256 + t)]);
    for (index_t half = 128; half > 0; half /= 2) {
      exec::block_sync();
      if (t < half)
        exec::lds_store(lds, t * 4, exec::lds_load<int>(lds, t * 4) + exec::lds_load<int>(lds, (t + half) * 4));
    }
    if (t == 0) output[std::size_t(block)] = exec::lds_load<int>(lds, 0);
  }
};

TEST(Launch, BlocksInParallelGiveTheSameResultAndCountsAsOneAfterAnother) {
  constexpr index_t blocks = 100;
  std::vector<int> input(blocks * 256), expected(blocks), serial(blocks), parallel(blocks);
  for (std::size_t i = 0; i < input.size(); ++i) expected[i / 256] += input[i] = int(unsigned(i) * 2654435761u >> 20);
  const arch::target* target = &arch::gfx942::value;
  const auto one =
      emulator::launch({.target = target, .grid = {blocks}, .block_size = 256, .lds_bytes = 1024, .workers = 1},
                       block_sum{input, serial});
  const auto many =
      emulator::launch({.target = target, .grid = {blocks}, .block_size = 256, .lds_bytes = 1024, .workers = 4},
                       block_sum{input, parallel});
  EXPECT_EQ(serial, expected);
  EXPECT_EQ(parallel, expected);
  EXPECT_EQ(one.workers, 1);
  EXPECT_EQ(many.workers, 4);
  EXPECT_EQ(one.blocks, blocks);
  EXPECT_EQ(one.by_op, many.by_op);
  EXPECT_EQ(one.totals, many.totals);
}

TEST(Launch, ProgressCountsEveryBlockOnce) {
  std::vector<tw::long_index_t> seen;
  emulator::launch({.target = &arch::sm80::value,
                    .grid = {3, 5, 2},
                    .block_size = 32,
                    .workers = 3,
                    .progress =
                        [&](tw::long_index_t done, tw::long_index_t total) {
                          EXPECT_EQ(total, 30);
                          seen.push_back(done);
                        }},
                   [] {});
  ASSERT_EQ(seen.size(), 30u);
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], tw::long_index_t(i) + 1);
}

TEST(Launch, AFaultStopsTheOtherBlocks) {
  std::atomic<int> started{0};
  const auto kernel = [&] {
    ++started;
    if (exec::block_id().x == 3) exec::lds_store(exec::lds_pointer{}, 0, 1);
  };
  EXPECT_THROW(
      emulator::launch({.target = &arch::sm80::value, .grid = {1 << 20}, .block_size = 32, .workers = 2}, kernel),
      emulator::fault);
  EXPECT_LT(started, 32 << 20);
}

// One rank stores 16 bytes and sets a flag, in this order or the other one; what the other rank reads after the flag.
float read_after_the_flag(bool sets_flag_first) {
  emulator::rank_group ranks(2);
  alignas(16) tw::array<float, 4> data{};
  unsigned flag = 0;
  float seen = -1;
  ranks.run([&](int rank) {
    emulator::launch({.target = &arch::sm90::value,
                      .grid = {1},
                      .block_size = 32,
                      .workers = 1,
                      .check_lds = emulator::lds_checks::off,  // what matters here are values
                      .ranks = &ranks},
                     [&] {
                       if (exec::thread_id() != 0) return;
                       if (rank == 1) {
                         EXPECT_TRUE(exec::wait_for_flag(&flag, 1, 1));
                         seen = exec::load_from_l2(data.elements)[0];
                         return;
                       }
                       if (sets_flag_first) exec::set_flag(&flag, 1);
                       exec::store_to_l2(data.elements, {{7, 7, 7, 7}});
                       EXPECT_EQ(exec::load_from_l2(data.elements)[0], 7);
                       exec::store_to_l2(data.elements, {{5, 5, 5, 5}});
                       if (!sets_flag_first) exec::set_flag(&flag, 1);
                     });
  });
  EXPECT_EQ(data[0], 5);
  return seen;
}

TEST(Launch, StoresToOtherRanksAreLateUnlessReleased) {
  EXPECT_EQ(read_after_the_flag(false), 5);
  EXPECT_EQ(read_after_the_flag(true), 7) << "the first store was made for the block's own load";
}

}  // namespace
