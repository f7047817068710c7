// SPDX-License-Identifier: MIT
// The machine's functions on the CPU: ids, LDS and barriers, buffers, shuffle, ldmatrix.
#include "../emulator/fault_text.hpp"

#include <tilewright/core/arch/arch.hpp>
#include <tilewright/machine/emulator/launch.hpp>
#include <tilewright/machine/exec/exec.hpp>
#include <tilewright/machine/exec/expect.hpp>

#include <gtest/gtest.h>

#include <cstdint>

#include <cmath>
#include <numeric>
#include <string>

namespace tw = tilewright;
namespace emulator = tw::emulator;
namespace exec = tw::exec;
using tw::index_t;

namespace {

emulator::launch_config one_block(const tw::arch::target& target, index_t block_size, index_t lds_bytes = 0) {
  return {.target = &target, .block_size = block_size, .lds_bytes = lds_bytes, .workers = 1};
}

TEST(Machine, IdsCountThreadsLanesWavesAndBlocks) {
  for (const tw::arch::target* target : tw::arch::all_targets) {
    emulator::launch_config config = one_block(*target, 128);
    config.grid = {2, 3, 4};
    std::vector<int> seen(2 * 3 * 4 * 128);
    emulator::launch(config, [&] {
      const exec::block_index b = exec::block_id();
      const index_t t = exec::thread_id();
      const bool lanes_fill_waves = exec::wave_id() * target->wave_size + exec::lane_id() == t;
      if (lanes_fill_waves && exec::lane_id() < target->wave_size)
        ++seen[std::size_t(((b.z * 3 + b.y) * 2 + b.x) * 128 + t)];
    });
    EXPECT_EQ(seen, std::vector<int>(seen.size(), 1)) << target->name;
  }
}

TEST(Machine, ABarrierOrdersWritesToLdsBeforeReadsByOtherThreads) {
  constexpr index_t threads = 256, rounds = 10;
  std::vector<int> sums(threads);
  emulator::launch(one_block(tw::arch::gfx942::value, threads, threads * 4), [&] {
    const exec::lds_pointer lds = exec::lds_allocate<threads * 4>();
    const index_t t = exec::thread_id();
    int value = t;
    for (index_t round = 0; round < rounds; ++round) {  // each round adds the value of the thread 2^round places on
      exec::lds_store(lds, t * 4, value);
      exec::block_sync();
      value += exec::lds_load<int>(lds + (t + (1 << round)) % threads * 4, 0);
      exec::block_sync();
    }
    sums[std::size_t(t)] = value;
  });
  constexpr int all =
      threads * (threads - 1) / 2;  // after 8 rounds each thread has all values once; two more double it twice
  EXPECT_EQ(sums, std::vector<int>(threads, all * 4));
}

TEST(Machine, LdsHoldsValuesOfEveryWidth) {
  struct alignas(16) sixteen_bytes {
    double a, b;
  };
  double got = 0;
  emulator::launch(one_block(tw::arch::sm90::value, 32, 64), [&] {
    const exec::lds_pointer lds = exec::lds_allocate<64>();
    if (exec::thread_id() != 0) return;
    exec::lds_store(lds, 0, static_cast<signed char>(-3));
    exec::lds_store(lds, 2, short{-300});
    exec::lds_store(lds, 4, 0.25f);
    exec::lds_store(lds, 8, 0.125);
    exec::lds_store(lds, 16, sixteen_bytes{1e10, 1e-3});
    const auto wide = exec::lds_load<sixteen_bytes>(lds + 16, 0);
    got = exec::lds_load<signed char>(lds, 0) + exec::lds_load<short>(lds, 2) + exec::lds_load<float>(lds, 4) +
          exec::lds_load<double>(lds, 8) + wide.a + wide.b;
  });
  EXPECT_EQ(got, -3 - 300 + 0.25 + 0.125 + 1e10 + 1e-3);
}

TEST(Machine, LdsStartsAsNanInEveryBlock) {
  emulator::launch_config config = one_block(tw::arch::gfx942::value, 64, 256);
  config.grid = {3};
  config.check_lds = emulator::lds_checks::off;
  int numbers = 0;
  emulator::launch(config, [&] {
    const exec::lds_pointer lds = exec::lds_allocate<256>();
    const index_t place = exec::thread_id() * 4;
    if (!std::isnan(exec::lds_load<float>(lds, place))) ++numbers;
    if (!std::isnan(float(exec::lds_load<tw::half_t>(lds, place)))) ++numbers;
    if (!std::isnan(float(exec::lds_load<tw::bfloat16_t>(lds, place)))) ++numbers;
    exec::lds_store(lds, place, 1.0f);
  });
  EXPECT_EQ(numbers, 0);
}

TEST(Machine, ABufferGivesZerosOutsideAndDropsStores) {
  using four = tw::array<int, 4>;
  alignas(16) int memory[12] = {7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7};
  tw::array<four, 8> loaded{};
  emulator::launch(one_block(tw::arch::gfx90a::value, 64), [&] {
    if (exec::thread_id() != 0) return;
    const exec::global_buffer whole = exec::make_global_buffer(memory, 10 * 4);
    const exec::global_buffer rest = exec::advance(whole, 16);  // 24 bytes are left
    loaded[0] = exec::buffer_load<four>(rest, 0);
    loaded[1] = exec::buffer_load<four>(rest, 16);  // ends 8 bytes too late
    loaded[2] = exec::buffer_load<four>(rest, -16);
    loaded[3] = exec::buffer_load<four>(rest, exec::out_of_bounds_offset);
    loaded[4] = exec::buffer_load<four>(exec::advance(whole, 1000), 0);
    loaded[5] = exec::buffer_load<four>(whole, 0x7ffffff0);
    loaded[6] = exec::masked_load<four>(rest, 0, false);
    loaded[7] = exec::masked_load<four>(rest, -0x7ffffff0, false);
    exec::buffer_store(rest, 20, 1);
    exec::buffer_store(rest, 24, 2);
    exec::buffer_store(rest, exec::out_of_bounds_offset, 3);
    exec::buffer_store(rest, -4, 4);
    exec::masked_store(rest, 8, 5, true);
    exec::masked_store(rest, 12, 6, false);
  });
  EXPECT_EQ(loaded[0], (four{7, 7, 7, 7}));
  for (index_t i = 1; i < 8; ++i) EXPECT_EQ(loaded[i], four{}) << i;
  EXPECT_EQ(std::vector<int>(memory, memory + 12), (std::vector<int>{7, 7, 7, 7, 7, 7, 5, 7, 7, 1, 7, 7}));
}

/// The fault of a kernel of one wave, with "(here)" for lines of this file.
template <class Kernel>
std::string fault_of(Kernel kernel) {
  return tw::testing_exec::fault_text("machine.test.cpp",
                                      [&] { emulator::launch(one_block(tw::arch::gfx942::value, 64), kernel); });
}

TEST(Machine, VectorsInGlobalMemoryMustBeAlignedToTheirSize) {
  alignas(16) int memory[16] = {};
  using four = tw::array<int, 4>;
  const exec::global_buffer buffer = exec::make_global_buffer(memory, sizeof memory);
  EXPECT_EQ(fault_of([&] { (void)exec::buffer_load<four>(buffer, 4); }),
            "thread 0 of block (0, 0, 0) reads 16 bytes of global memory (here) at byte 4 of a buffer, whose "
            "address is not a multiple of 16");
  const exec::global_buffer shifted = exec::make_global_buffer(memory, 60), odd = exec::advance(shifted, 2);
  EXPECT_NE(fault_of([&] { exec::buffer_store(odd, 0, 1.0f); }).find("writes 4 bytes"), std::string::npos);
  EXPECT_NE(fault_of([&] {
              exec::async_load_to_lds<4>(odd, 0, exec::lds_pointer{}, exec::lane_id() * 4);
            }).find("copies 4 bytes"),
            std::string::npos);
  EXPECT_EQ(fault_of([&] { (void)exec::buffer_load<four>(odd, 50); }), "no fault") << "outside of the buffer";
  EXPECT_EQ(fault_of([&] { (void)exec::buffer_load<tw::half_t>(odd, 0); }), "no fault");
}

TEST(Machine, ABufferMayBeLargerThanAnOffsetCanTell) {
  char memory[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  char got = 0;
  emulator::launch(one_block(tw::arch::gfx942::value, 64), [&] {
    constexpr tw::long_index_t before = 5'000'000'000;  // the buffer starts far before the memory that is touched
    const auto start = reinterpret_cast<const char*>(reinterpret_cast<std::uintptr_t>(memory) - before);
    const exec::global_buffer whole = exec::make_global_buffer(start, before + 8);
    got = exec::buffer_load<char>(exec::advance(whole, before), 7);
  });
  EXPECT_EQ(got, 8);
}

TEST(Machine, ShuffleReadsAnyLaneOfTheOwnWave) {
  for (const tw::arch::target* target : tw::arch::all_targets) {
    const index_t wave = target->wave_size;
    std::vector<int> rotated(128), reversed(128);
    std::vector<float> broadcast(128);
    emulator::launch(one_block(*target, 128), [&] {
      const index_t lane = exec::lane_id(), t = exec::thread_id();
      rotated[std::size_t(t)] = exec::shuffle(t, lane + 5);
      reversed[std::size_t(t)] = exec::shuffle(t, wave - 1 - lane);
      broadcast[std::size_t(t)] = exec::shuffle(0.5f * float(t), 3);
    });
    for (index_t t = 0; t < 128; ++t) {
      const index_t first = t / wave * wave, lane = t % wave;
      EXPECT_EQ(rotated[std::size_t(t)], first + (lane + 5) % wave);
      EXPECT_EQ(reversed[std::size_t(t)], first + wave - 1 - lane);
      EXPECT_EQ(broadcast[std::size_t(t)], 0.5f * float(first + 3));
    }
  }
}

TEST(Machine, LdmatrixDistributesFourMatricesOf8x8) {
  constexpr index_t pitch = 80;  // bytes from row to row: 32 rows of 8 elements, which need not be adjacent
  std::vector<tw::array<unsigned, 4>> words(64);
  const emulator::launch_report report = emulator::launch(one_block(tw::arch::sm80::value, 64, 32 * pitch), [&] {
    const exec::lds_pointer lds = exec::lds_allocate<32 * pitch>();
    const index_t t = exec::thread_id();
    if (t < 32) {
      for (index_t col = 0; col < 8; ++col)
        exec::lds_store(lds, t * pitch + col * 2, static_cast<short>(t * 100 + col));
    }
    exec::block_sync();
    words[std::size_t(t)] = exec::ldmatrix_x4(lds, exec::lane_id() * pitch);
  });
  for (index_t t = 0; t < 64; ++t) {
    const index_t lane = t % 32;
    for (index_t j = 0; j < 4; ++j) {
      const unsigned row = unsigned(8 * j + lane / 4), col = unsigned(2 * (lane % 4));
      EXPECT_EQ(words[std::size_t(t)][j], (row * 100 + col) | (row * 100 + col + 1) << 16);
    }
  }
  EXPECT_EQ(report.of(tw::arch::lds_op::ldmatrix).executions, 2);
}

// In each 16 lanes, four (two-byte elements) or two (one-byte elements) neighbours address a row of 16,
// and lane i receives column i.
template <class T>
void expect_columns_of_rows() {
  SCOPED_TRACE(sizeof(T));
  constexpr index_t length = 8 / index_t(sizeof(T)), lanes_per_row = 16 / length, pitch = 8 * lanes_per_row + 24;
  constexpr index_t rows = 128 / lanes_per_row, lds_bytes = rows * pitch;
  std::vector<tw::vector_t<T, length>> columns(128);
  const emulator::launch_report report = emulator::launch(one_block(tw::arch::gfx950::value, 128, lds_bytes), [&] {
    const exec::lds_pointer lds = exec::lds_allocate<lds_bytes>();
    const index_t t = exec::thread_id();
    if (t < rows) {
      for (index_t col = 0; col < 16; ++col)
        exec::lds_store(lds, t * pitch + col * index_t(sizeof(T)), static_cast<T>(t * 16 + col));
    }
    exec::block_sync();
    columns[std::size_t(t)] = exec::lds_load_transpose<T>(lds, t / lanes_per_row * pitch + t % lanes_per_row * 8);
  });
  for (index_t t = 0; t < 128; ++t) {
    for (index_t row = 0; row < length; ++row)
      EXPECT_EQ(columns[std::size_t(t)][row], T((t / 16 * length + row) * 16 + t % 16)) << t << ", " << row;
  }
  EXPECT_EQ(report.of(tw::arch::transposing_read_op(sizeof(T))).executions, 2);
  EXPECT_EQ(report.of(tw::arch::lds_op::read_b64).executions, 0);
}

TEST(Machine, TransposingReadsGiveColumnsOfWhat16LanesAddress) {
  expect_columns_of_rows<unsigned short>();
  expect_columns_of_rows<unsigned char>();
}

}  // namespace
