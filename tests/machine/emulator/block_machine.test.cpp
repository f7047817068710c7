// SPDX-License-Identifier: MIT
// What a kernel must not do is refused with one sentence that names the thread and the block.
#include "fault_text.hpp"

#include <tilewright/core/arch/arch.hpp>
#include <tilewright/machine/emulator/launch.hpp>
#include <tilewright/machine/exec/exec.hpp>

#include <gtest/gtest.h>

#include <string>

namespace tw = tilewright;
namespace arch = tw::arch;
namespace emulator = tw::emulator;
namespace exec = tw::exec;
using tw::index_t;

namespace {

std::string without_lines(const std::string& text) {
  return tw::testing_exec::without_lines(text, "block_machine.test.cpp");
}

template <class Kernel>
std::string fault_of(Kernel kernel, const arch::target& target = arch::gfx942::value, index_t block_size = 128) {
  try {
    emulator::launch({.target = &target, .grid = {2, 2, 1}, .block_size = block_size, .lds_bytes = 1024, .workers = 1},
                     kernel);
  } catch (const emulator::fault& f) {
    return without_lines(f.what());
  }
  return "no fault";
}

bool in_block_one() { return exec::block_id() == exec::block_index{1, 0, 0}; }

TEST(BlockMachine, LdsAccessesMustBeInsideTheAllocation) {
  EXPECT_EQ(
      fault_of([] {
        const exec::lds_pointer lds = exec::lds_allocate<512>();
        if (in_block_one() && exec::thread_id() == 70) exec::lds_load<double>(lds, 508 + 4);
      }),
      "thread 70 of block (1, 0, 0) executes ds_read_b64 (here) at LDS byte 512, outside of the 512 bytes that it has "
      "allocated");
  EXPECT_EQ(
      fault_of([] { exec::lds_load<double>(exec::lds_allocate<512>(), 0x7ffffff8); }),
      "thread 0 of block (0, 0, 0) executes ds_read_b64 (here) at LDS byte 2147483640, outside of the 512 bytes that "
      "it has allocated");
}

TEST(BlockMachine, EveryThreadMustReachABarrier) {
  EXPECT_EQ(fault_of([] {
              if (!in_block_one() || exec::thread_id() != 100) exec::block_sync();
            }),
            "thread 0 of block (1, 0, 0) waits forever at a barrier (here) that thread 100 does not reach: it has "
            "left the kernel");
  EXPECT_EQ(fault_of([] {
              if (exec::wave_id() == 0) exec::shuffle(1, 0);
              if (exec::thread_id() == 7) exec::shuffle(1, 0);
              exec::block_sync();
            }),
            "thread 7 of block (0, 0, 0) waits forever at a shuffle (here) that thread 0 does not reach: it waits at "
            "a barrier (here)");
}

TEST(BlockMachine, EveryLaneMustReachABarrierOfItsWave) {
  int reached = 0;
  EXPECT_EQ(fault_of([&] {
              if (exec::thread_id() < 64) exec::wave_sync();
              ++reached;
            }),
            "no fault");
  EXPECT_EQ(reached, 4 * 128);
  EXPECT_EQ(
      fault_of([] {
        if (exec::thread_id() != 70) exec::wave_sync();
      }),
      "thread 64 of block (0, 0, 0) waits forever at a barrier of its wave (here) that thread 70 does not reach: it "
      "has left the kernel");
}

TEST(BlockMachine, LanesOfAWaveMustDoTheSameOperation) {
  EXPECT_EQ(fault_of([] {
              if (exec::lane_id() != 9) return void(exec::shuffle(1, 0));
              tw::array<float, 4> c{};
              tw::array<tw::half_t, 4> ab{};
              exec::mma<arch::matrix_op::mfma_16x16x16>(c.data(), ab.data(), ab.data());
            }),
            "thread 9 of block (0, 0, 0) reaches a matrix instruction (here) while other lanes of its wave wait in a "
            "shuffle (here)");
}

struct destruction_counter {
  int& count;
  ~destruction_counter() { ++count; }
};

TEST(BlockMachine, AnExceptionInAKernelLeavesLaunchAndUnwindsEveryThread) {
  int destroyed = 0;
  const auto kernel = [&] {
    const destruction_counter counter{destroyed};
    exec::block_sync();
    if (exec::thread_id() == 64) throw std::string("from the kernel");
    exec::block_sync();
  };
  EXPECT_THROW(emulator::launch({.target = &arch::gfx942::value, .block_size = 128}, kernel), std::string);
  EXPECT_EQ(destroyed, 128);
}

TEST(BlockMachine, ExceptionsCaughtInsideAKernelAreItsOwnBusiness) {
  int caught = 0;
  emulator::launch({.target = &arch::gfx942::value, .block_size = 64}, [&] {
    try {
      exec::block_sync();
      throw exec::thread_id();
    } catch (index_t thread) {
      caught += thread;
    }
    exec::block_sync();
  });
  EXPECT_EQ(caught, 63 * 64 / 2);
}

}  // namespace
