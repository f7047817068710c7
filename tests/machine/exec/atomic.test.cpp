// SPDX-License-Identifier: MIT
// Atomic updates on the CPU: of every type, in global memory from several blocks at a time, and in LDS.
#include "../emulator/fault_text.hpp"

#include <tilewright/core/arch/arch.hpp>
#include <tilewright/machine/emulator/launch.hpp>
#include <tilewright/machine/exec/exec.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace tilewright {
namespace {

using exec::atomic_op;
constexpr index_t block_size = 64, blocks = 32;

emulator::launch_config grid(index_t lds_bytes = 0) {
  return {.target = &arch::gfx942::value,
          .grid = {blocks, 1, 1},
          .block_size = block_size,
          .lds_bytes = lds_bytes,
          .workers = 4};
}

/// Every thread of every block updates `out` with value(its number).
template <atomic_op Op, class V, class Value>
V update_all(V start, Value value) {
  alignas(4) V out = start;
  emulator::launch(grid(), [&] {
    const exec::global_buffer buffer = exec::make_global_buffer(&out, sizeof(V));
    exec::buffer_atomic<Op>(buffer, 0, value(exec::block_id().x * block_size + exec::thread_id()));
    exec::buffer_atomic<Op>(buffer, 4, value(1000));  // outside: dropped
    exec::buffer_atomic<Op>(buffer, -4, value(1000));
  });
  return out;
}

TEST(Atomic, AddsNumbersOfAllBlocks) {
  constexpr int n = block_size * blocks;
  EXPECT_EQ(update_all<atomic_op::add>(5, [](int i) { return i; }), 5 + n * (n - 1) / 2);
  EXPECT_EQ(update_all<atomic_op::add>(5u, [](int i) { return unsigned(-i); }), 5u - unsigned(n * (n - 1) / 2));
  EXPECT_EQ(update_all<atomic_op::add>(0.5f, [](int i) { return float(i % 7); }), [] {
    float sum = 0.5f;
    for (int i = 0; i < n; ++i) sum += float(i % 7);
    return sum;
  }());
}

TEST(Atomic, KeepsTheLargest) {
  EXPECT_EQ(update_all<atomic_op::max>(-7, [](int i) { return (i * 37) % 2048 - 2000; }), 47);
  EXPECT_EQ(update_all<atomic_op::max>(3u, [](int i) { return unsigned(i) << 21; }), 2047u << 21);
  EXPECT_EQ(update_all<atomic_op::max>(-1e9f, [](int i) { return float(-i) - 2.5f; }), -2.5f);
  EXPECT_EQ(update_all<atomic_op::max>(-0.0f, [](int i) { return float(i - 2000); }), 1000.0f - 2000 + 1047);
}

template <class T>
void expect_pairs() {
  using pair = vector_t<T, 2>;
  const pair sum = update_all<atomic_op::add>(
      pair{{T(1.0f), T(2.0f)}}, [](int i) { return pair{{T(i % 2 ? 1.0f : -1.0f), T(i == 9 ? 3.0f : 0.0f)}}; });
  EXPECT_EQ(float(sum[0]), 1.0f);
  EXPECT_EQ(float(sum[1]), 5.0f);
  const pair largest = update_all<atomic_op::max>(pair{{T(-9.0f), T(2.0f)}},
                                                  [](int i) { return pair{{T(float(-1 - i % 5)), T(float(i % 5))}}; });
  EXPECT_EQ(float(largest[0]), -1.0f);
  EXPECT_EQ(float(largest[1]), 4.0f);
}
TEST(Atomic, UpdatesPairs) {
  expect_pairs<half_t>();
  expect_pairs<bfloat16_t>();
}

TEST(Atomic, UpdatesLds) {
  std::vector<int> sums(blocks);
  emulator::launch(grid(8), [&] {
    const exec::lds_pointer lds = exec::lds_allocate<8>();
    if (exec::thread_id() == 0) exec::lds_store(lds, 4, 10);
    exec::block_sync();
    exec::lds_atomic<atomic_op::add>(lds, 4, exec::thread_id());
    exec::block_sync();
    if (exec::thread_id() == 1) sums[std::size_t(exec::block_id().x)] = exec::lds_load<int>(lds, 4);
  });
  EXPECT_EQ(sums, std::vector<int>(blocks, 10 + 63 * 64 / 2));
}

TEST(Atomic, RefusesPlacesThatNoInstructionCanUpdate) {
  const auto is_refused_in_lds = [](const char* why, index_t place) {
    const auto kernel = [=] { exec::lds_atomic<atomic_op::add>(exec::lds_allocate<8>(), place, 1); };
    return testing_exec::is_refused(why, [&] { emulator::launch(grid(8), kernel); });
  };
  EXPECT_TRUE(is_refused_in_lds("not a multiple of 4", 2));
  EXPECT_TRUE(is_refused_in_lds("outside of the 8 bytes", 8));
  alignas(4) char bytes[8] = {};
  const auto kernel = [&] { exec::buffer_atomic<atomic_op::add>(exec::make_global_buffer(bytes, 8), 2, 1); };
  EXPECT_TRUE(testing_exec::is_refused("at byte 2 of a buffer, whose address is not a multiple of 4",
                                       [&] { emulator::launch(grid(), kernel); }));
}

/// 64 blocks in 16 groups of four; the last block of each group sums what the group has stored.
TEST(Atomic, TheLastArrivalSeesWhatOthersStored) {
  constexpr index_t groups = 16, members = 4;
  std::vector<unsigned> counters(groups, 0u);
  std::vector<int> stored(groups * members * block_size, -1), sums(groups, 0);
  emulator::launch_config config = grid(4);
  config.grid = {groups * members, 1, 1};
  const auto launch = [&](unsigned expected) {
    emulator::launch(config, [&] {
      const index_t block = exec::block_id().x, group = block % groups;
      const exec::lds_pointer flag = exec::lds_allocate<4>();
      const exec::global_buffer all = exec::make_global_buffer(stored.data(), index_t(stored.size() * 4));
      exec::buffer_store(all, (block * block_size + exec::thread_id()) * 4, block);
      if (!exec::is_last_arrival(&counters[std::size_t(group)], expected, flag) || exec::thread_id() != 0) return;
      int sum = 0;
      for (index_t member = 0; member < members; ++member)
        for (index_t i = 0; i < block_size; ++i)
          sum += exec::buffer_load<int>(all, ((member * groups + group) * block_size + i) * 4);
      exec::buffer_store(exec::make_global_buffer(&sums[std::size_t(group)], 4), 0, sum);
    });
  };
  launch(members);
  for (index_t g = 0; g < groups; ++g) EXPECT_EQ(sums[std::size_t(g)], (4 * g + groups * 6) * block_size) << g;
  EXPECT_EQ(counters, std::vector<unsigned>(groups, 0u));
  EXPECT_TRUE(testing_exec::is_refused("nothing orders these blocks", [&] { launch(members - 1); }))
      << "one block of each group is not waited for";
}

}  // namespace
}  // namespace tilewright
