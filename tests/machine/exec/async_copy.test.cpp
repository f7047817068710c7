// SPDX-License-Identifier: MIT
// Copies to LDS on the CPU: they arrive at the wait and not before,
// in the order of the lanes where the target demands it.
#include "../emulator/fault_text.hpp"

#include <tilewright/core/arch/arch.hpp>
#include <tilewright/machine/emulator/launch.hpp>
#include <tilewright/machine/exec/exec.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

namespace tilewright {
namespace {

constexpr index_t threads = 128, lds_bytes = threads * 4 * 2;

template <class Kernel>
emulator::launch_report run(const arch::target& target, Kernel kernel) {
  return emulator::launch({.target = &target,
                           .block_size = threads,
                           .lds_bytes = lds_bytes,
                           .workers = 1,
                           .check_lds = emulator::lds_checks::off},
                          kernel);
}

/// Copies two tiles of a word per thread, waits so that at most Outstanding copies are missing,
/// and returns what LDS holds then.
template <index_t Outstanding, bool Wait>
std::vector<int> copy_two(const arch::target& target) {
  std::vector<int> source(threads * 2), seen(threads * 2);
  std::iota(source.begin(), source.end(), 1);
  run(target, [&] {
    const exec::lds_pointer lds = exec::lds_allocate<lds_bytes>();
    const exec::global_buffer buffer = exec::make_global_buffer(source.data(), threads * 4 * 2);
    const index_t t = exec::thread_id();
    for (index_t tile = 0; tile < 2; ++tile) exec::lds_store(lds, (tile * threads + t) * 4, -1);
    exec::block_sync();
    for (index_t tile = 0; tile < 2; ++tile)
      exec::async_load_to_lds<4>(buffer, (tile * threads + t) * 4, lds + tile * threads * 4, t * 4);
    if (Wait) exec::async_wait<Outstanding>();
    exec::block_sync();
    for (index_t tile = 0; tile < 2; ++tile) {
      const index_t other = tile * threads + (t + 1) % threads;  // another thread's word
      seen[std::size_t(other)] = exec::lds_load<int>(lds, other * 4);
    }
  });
  return seen;
}

std::vector<int> numbers(int first_missing) {
  std::vector<int> expected(threads * 2, -1);
  std::iota(expected.begin(), expected.begin() + first_missing, 1);
  return expected;
}

TEST(AsyncCopy, IsThereAfterTheWait) {
  for (const arch::target* target : arch::all_targets)
    EXPECT_EQ((copy_two<0, true>(*target)), numbers(2 * threads)) << target->name;
}

TEST(AsyncCopy, IsNotThereWithoutTheWaitOnTargetsThatBypassRegisters) {
  for (const arch::target* target : arch::all_targets) {
    const bool direct = target->supports_direct_to_lds(4);
    EXPECT_EQ((copy_two<0, false>(*target)), numbers(direct ? 0 : 2 * threads)) << target->name;
    EXPECT_EQ((copy_two<1, true>(*target)), numbers(direct ? threads : 2 * threads)) << target->name;
  }
}

/// Copies a word per thread in each of two groups, one of two buffers, walking on between them; an empty group follows.
template <index_t Outstanding>
std::vector<int> copy_two_groups(const arch::target& target, index_t last_inside = 2 * threads) {
  std::vector<int> source(threads * 2), seen(threads * 2);
  std::iota(source.begin(), source.end(), 1);
  run(target, [&] {
    const exec::lds_pointer lds = exec::lds_allocate<lds_bytes>();
    exec::walking_buffer buffer(exec::make_global_buffer(source.data(), threads * 4 * 2));
    const index_t t = exec::thread_id();
    for (index_t tile = 0; tile < 2; ++tile) exec::lds_store(lds, (tile * threads + t) * 4, -1);
    exec::block_sync();
    for (index_t tile = 0; tile < 2; ++tile) {
      const bool inside = tile * threads + t < last_inside;
      exec::async_load_in_group<4>(buffer, inside ? t * 4 : exec::out_of_bounds_offset, lds + tile * threads * 4,
                                   t * 4);
      exec::async_end_group();
      buffer.advance(threads * 4);
    }
    exec::async_end_group();
    exec::async_wait_groups<Outstanding>();
    exec::block_sync();
    for (index_t tile = 0; tile < 2; ++tile) {
      const index_t other = tile * threads + (t + 1) % threads;
      seen[std::size_t(other)] = exec::lds_load<int>(lds, other * 4);
    }
    exec::block_sync();
    exec::async_wait_groups<0>();
  });
  return seen;
}

TEST(AsyncCopy, GroupsArriveInOrderAndEmptyOnesCount) {
  for (const arch::target* target : {&arch::sm80::value, &arch::sm90::value}) {
    EXPECT_EQ(copy_two_groups<0>(*target), numbers(2 * threads));
    EXPECT_EQ(copy_two_groups<1>(*target), numbers(2 * threads)) << "the empty one may be missing";
    EXPECT_EQ(copy_two_groups<2>(*target), numbers(threads));
    EXPECT_EQ(copy_two_groups<3>(*target), numbers(0));
  }
  EXPECT_EQ(copy_two_groups<0>(arch::gfx1201::value), numbers(2 * threads)) << "loads and stores";
}

TEST(AsyncCopy, GroupsHoldZerosForWhatIsOutside) {
  std::vector<int> expected = numbers(2 * threads);
  std::fill(expected.begin() + 150, expected.end(), 0);
  EXPECT_EQ(copy_two_groups<0>(arch::sm80::value, 150), expected);
}

TEST(AsyncCopy, GroupsRefuseToLeaveTheBuffer) {
  const int source[threads] = {};
  const auto kernel = [&] {
    exec::walking_buffer buffer(exec::make_global_buffer(source, sizeof(source)));
    buffer.advance(4);
    exec::async_load_in_group<4>(buffer, exec::thread_id() * 4, exec::lds_allocate<lds_bytes>(), exec::thread_id() * 4);
  };
  EXPECT_TRUE(testing_exec::is_refused("what is not inside of the tensor", [&] { run(arch::sm80::value, kernel); }));
}

TEST(AsyncCopy, FirstBytesAreFollowedByZerosAndComeFromAlignedMemory) {
  alignas(16) static char source[threads][16];
  std::memset(source, 7, sizeof(source));
  const auto copied = [&](index_t bytes, index_t from) {
    index_t right = 0;
    run(arch::sm90::value, [&] {
      const exec::lds_pointer lds = exec::lds_allocate<lds_bytes>();
      if (exec::thread_id() > 0) return;
      exec::async_load_first_bytes<16>(source[0] + from, bytes, lds, 0);
      exec::async_end_group();
      exec::async_wait_groups<0>();
      for (index_t i = 0; i < 16; ++i) right += exec::lds_load<char>(lds, i) == (i < bytes ? 7 : 0);
    });
    return right;
  };
  for (const index_t bytes : {0, 3, 16}) EXPECT_EQ(copied(bytes, 16), 16);
  const auto is_refused = [&](index_t bytes, index_t from) {
    return testing_exec::is_refused("up to 16, from a multiple of that", [&] { copied(bytes, from); });
  };
  EXPECT_TRUE(is_refused(1, 3));
  EXPECT_TRUE(is_refused(17, 0));
}

TEST(AsyncCopy, GivesZerosOutsideOfTheBuffer) {
  for (const arch::target* target : arch::all_targets) {
    std::vector<int> source(threads, 7), seen(threads, -1);
    run(*target, [&] {
      const exec::lds_pointer lds = exec::lds_allocate<lds_bytes>();
      const index_t t = exec::thread_id();
      const exec::global_buffer buffer = exec::make_global_buffer(source.data(), 50 * 4);
      exec::masked_load_to_lds<4>(buffer, t < 100 ? t * 4 : 0x7ffffff0 - t * 4, lds, t * 4, t < 100 && t != 9);
      exec::async_wait();
      seen[std::size_t(t)] = exec::lds_load<int>(lds, t * 4);
    });
    for (index_t t = 0; t < threads; ++t)
      ASSERT_EQ(seen[std::size_t(t)], t < 50 && t != 9 ? 7 : 0) << target->name << " " << t;
  }
}

TEST(AsyncCopy, FillsLdsInTheOrderOfTheLanesOnAmdTargets) {
  const int source[threads] = {};
  const auto reversed = [&] {
    const exec::lds_pointer lds = exec::lds_allocate<lds_bytes>();
    exec::async_load_to_lds<4>(exec::make_global_buffer(source, sizeof(source)), 0, lds,
                               (threads - 1 - exec::thread_id()) * 4);
    exec::async_wait();
  };
  try {
    run(arch::gfx942::value, reversed);
    FAIL() << "lanes in reverse order were accepted";
  } catch (const emulator::fault& fault) {
    const std::string text = fault.what();
    EXPECT_EQ(text.find("thread 1 of block (0, 0, 0) copies to LDS byte 504 (async_copy.test.cpp:"), 0) << text;
    EXPECT_NE(text.find("), but gfx942 puts lane 1 at byte 512: a copy without registers fills LDS in the order of the "
                        "lanes"),
              std::string::npos)
        << text;
  }
  EXPECT_NO_THROW(run(arch::sm80::value, reversed));
  EXPECT_NO_THROW(run(arch::gfx1201::value, reversed)) << "loads and stores";
}

TEST(AsyncCopy, IsCountedAsAWriteToLds) {
  const int source[threads] = {};
  for (const arch::target* target : arch::all_targets) {
    const emulator::launch_report report = run(*target, [&] {
      exec::async_load_to_lds<4>(exec::make_global_buffer(source, sizeof(source)), 0, exec::lds_allocate<lds_bytes>(),
                                 exec::thread_id() * 4);
      exec::async_wait();
    });
    EXPECT_EQ(report.of(arch::lds_op::write_b32).executions, threads / target->wave_size) << target->name;
  }
}

TEST(AsyncCopy, OutsideOfTheAllocatedLdsIsAFault) {
  const int source[threads] = {};
  const auto kernel = [&] {
    exec::async_load_to_lds<4>(exec::make_global_buffer(source, sizeof(source)), 0, exec::lds_allocate<256>(),
                               exec::thread_id() * 4);
  };
  EXPECT_TRUE(testing_exec::is_refused("outside of the 256 bytes that it has allocated",
                                       [&] { run(arch::gfx950::value, kernel); }));
}

}  // namespace
}  // namespace tilewright
