// SPDX-License-Identifier: MIT
// Exchanges between the lanes of a wave on the CPU.
#include <tilewright/core/arch/arch.hpp>
#include <tilewright/machine/emulator/launch.hpp>
#include <tilewright/machine/exec/exec.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace tilewright {
namespace {

template <index_t Mask>
void expect_exchange(const arch::target& target) {
  std::vector<float> seen(128, -1);
  emulator::launch({.target = &target, .block_size = 128, .workers = 1},
                   [&] { seen[std::size_t(exec::thread_id())] = exec::shuffle_xor<Mask>(float(exec::thread_id())); });
  for (index_t t = 0; t < 128; ++t)
    ASSERT_EQ(seen[std::size_t(t)], float(t ^ Mask)) << target.name << ", mask " << Mask;
}

TEST(ShuffleXor, GivesTheValueOfTheLaneThatDiffersInTheMask) {
  for (const arch::target* target : arch::all_targets) {
    expect_exchange<1>(*target);
    expect_exchange<5>(*target);
    expect_exchange<16>(*target);
    expect_exchange<31>(*target);
    if (target->wave_size == 64) expect_exchange<32>(*target);
    if (target->wave_size == 64) expect_exchange<63>(*target);
  }
}

TEST(Broadcast, GivesTheValueOfOneLaneOfTheWave) {
  for (const arch::target* target : arch::all_targets) {
    std::vector<int> seen(128, -1);
    emulator::launch({.target = target, .block_size = 128, .workers = 1},
                     [&] { seen[std::size_t(exec::thread_id())] = exec::broadcast(exec::thread_id(), 5); });
    for (index_t t = 0; t < 128; ++t)
      ASSERT_EQ(seen[std::size_t(t)], t / target->wave_size * target->wave_size + 5) << target->name;
  }
}

TEST(Ballot, HasABitForEachLane) {
  for (const arch::target* target : arch::all_targets) {
    std::vector<int> lower(128, -1), equal(128, -1);
    emulator::launch({.target = target, .block_size = 128, .workers = 1}, [&] {
      const exec::lane_mask thirds = exec::ballot(exec::lane_id() % 3 == 2);
      lower[std::size_t(exec::thread_id())] = 100 * exec::count_lanes(thirds) + exec::count_lower_lanes(thirds);
      equal[std::size_t(exec::thread_id())] = exec::count_lower_lanes(exec::equal_lanes<3>(exec::thread_id()));
    });
    for (index_t t = 0; t < 128; ++t) {
      ASSERT_EQ(lower[std::size_t(t)], target->wave_size / 3 * 100 + t % target->wave_size / 3) << target->name;
      ASSERT_EQ(equal[std::size_t(t)], t % target->wave_size / 8) << target->name;
    }
  }
}

TEST(Any, IsTrueInAllLanesOfAWaveIfItIsInOne) {
  for (const arch::target* target : arch::all_targets) {
    std::vector<int> seen(128, -1);
    emulator::launch({.target = target, .block_size = 128, .workers = 1}, [&] {
      seen[std::size_t(exec::thread_id())] =
          exec::any(exec::thread_id() == 3) + 2 * exec::any(exec::thread_id() == 200);
    });
    for (index_t t = 0; t < 128; ++t) ASSERT_EQ(seen[std::size_t(t)], t < target->wave_size) << target->name;
  }
}

}  // namespace
}  // namespace tilewright
