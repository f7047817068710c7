// SPDX-License-Identifier: MIT
// What docs/cpu_emulator.md shows.
#include <gtest/gtest.h>
#include <tilewright/core/arch/arch.hpp>
#include <tilewright/machine/emulator/launch.hpp>
#include <tilewright/machine/emulator/schedule_explorer.hpp>
#include <tilewright/machine/exec/hopper.hpp>
#include <tilewright/machine/exec/host/make_tensor_map.hpp>

#include <string>
#include <vector>

namespace tw = tilewright;
namespace emulator = tilewright::emulator;
namespace exec = tilewright::exec;
using tw::index_t;

namespace {

TEST(DocsCpuBackend, AKernel) {
  // Each block reverses its 256 numbers through LDS.
  std::vector<int> data(1024);
  for (index_t i = 0; i < 1024; ++i) data[std::size_t(i)] = i;
  const auto kernel = [&] {
    const exec::global_buffer buffer = exec::make_global_buffer(data.data(), 1024 * sizeof(int));
    const exec::lds_pointer lds = exec::lds_allocate<1024>();
    const index_t thread = exec::thread_id(), first = exec::block_id().x * 256;
    exec::lds_store(lds, thread * 4, exec::buffer_load<int>(buffer, (first + thread) * 4));
    exec::block_sync();
    exec::buffer_store(buffer, (first + thread) * 4, exec::lds_load<int>(lds, (255 - thread) * 4));
  };
  const emulator::launch_report report =
      emulator::launch({.target = &tw::arch::gfx942::value, .grid = {4}, .block_size = 256, .lds_bytes = 1024}, kernel);

  EXPECT_EQ(data[0], 255);
  EXPECT_EQ(data[1023], 768);
  const emulator::lds_counts reads = report.of(tw::arch::lds_op::read_b32);
  EXPECT_EQ(reads.executions, 16);  // 4 blocks of 4 waves
  EXPECT_EQ(reads.conflicts, 0);
}

std::string fault_of(void (*kernel)()) {
  try {
    emulator::launch({.target = &tw::arch::gfx942::value, .block_size = 128, .lds_bytes = 1024}, kernel);
  } catch (const emulator::fault& f) {
    return f.what();
  }
  return "none";
}

TEST(DocsCpuBackend, Faults) {
  const std::string outside = fault_of([] { exec::lds_store(exec::lds_allocate<512>(), exec::thread_id() * 8, 1.0); });
  EXPECT_EQ(outside,
            "thread 64 of block (0, 0, 0) executes ds_write_b64 (cpu_emulator.test.cpp:52) at LDS byte 512, outside of "
            "the 512 bytes that it has allocated");
  const std::string unreached = fault_of([] {
    if (exec::wave_id() == 0) exec::block_sync();
  });
  EXPECT_EQ(unreached,
            "thread 0 of block (0, 0, 0) waits forever at a barrier (cpu_emulator.test.cpp:57) that thread 64 does not "
            "reach: it has left the kernel");
}

TEST(DocsCpuBackend, ChecksOfLds) {
  const auto kernel = [] {
    const exec::lds_pointer lds = exec::lds_allocate<512>();
    exec::lds_store(lds, exec::thread_id() * 4, 1);
    if (exec::thread_id() > 0) exec::lds_load<int>(lds, (exec::thread_id() - 1) * 4);  // a barrier is missing
  };
  std::string race;
  try {
    emulator::launch({.target = &tw::arch::gfx942::value,
                      .block_size = 128,
                      .lds_bytes = 512,
                      .check_lds = emulator::lds_checks::on},
                     kernel);
  } catch (const emulator::fault& f) {
    race = f.what();
  }
  EXPECT_EQ(race,
            "thread 1 of block (0, 0, 0) reads LDS bytes 0 to 3 (cpu_emulator.test.cpp:68) that thread 0 wrote "
            "(cpu_emulator.test.cpp:67) with no barrier between");
}

TEST(DocsCpuBackend, Hopper) {
  std::vector<tw::half_t> data(64 * 64);
  exec::tensor_map map;
  exec::make_tensor_map(map, {data.data(), tw::arch::matrix_element::f16, {64, 64, 1}, {128, 8192}, {64, 64}});
  const auto kernel = [&] {
    const exec::lds_pointer box = exec::lds_allocate<8192 + 8>();
    const exec::mbarrier done{exec::lds_address(box + 8192)};
    if (exec::thread_id() == 0) {
      done.init(1);
      exec::fence_barrier_init();
      done.arrive_and_expect(8192);
      exec::tma_load(exec::lds_address(box), map, done, 0, 0, 0);
    }
    exec::block_sync();
    exec::lds_load<int>(box, exec::thread_id() * 4);  // done.wait(0) is missing
  };
  std::string early;
  try {
    emulator::launch(
        {.target = &tw::arch::sm90::value, .block_size = 128, .lds_bytes = 8200, .check_lds = emulator::lds_checks::on},
        kernel);
  } catch (const emulator::fault& f) {
    early = f.what();
  }
  EXPECT_EQ(early,
            "thread 127 of block (0, 0, 0) reads LDS bytes 508 to 511 (cpu_emulator.test.cpp:99) before the copy by "
            "thread 0 (cpu_emulator.test.cpp:96) to there was waited for");
}

TEST(DocsCpuBackend, Schedules) {
  const auto exchange = [] {
    const exec::lds_pointer lds = exec::lds_allocate<512>();
    exec::lds_store(lds, exec::thread_id() * 4, 1);
    exec::block_sync();
    exec::lds_load<int>(lds, (exec::thread_id() ^ 64) * 4);
  };
  const emulator::exploration explored = emulator::explore({.deviations = 1, .max_schedules = 200}, [&] {
    emulator::launch({.target = &tw::arch::sm90::value, .grid = {1}, .block_size = 128, .lds_bytes = 512}, exchange);
  });
  EXPECT_TRUE(explored.is_complete);
  EXPECT_GT(explored.schedules, 4);
}

}  // namespace
