// SPDX-License-Identifier: MIT
// Small kernels without a defect, which tests/planted/kernel_faults.txt breaks one line at a time.
#include <tilewright/core/arch/arch.hpp>
#include <tilewright/kernels/gemm/choice/hopper_gemm_choice.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_gemm_kernel.hpp>
#include <tilewright/kernels/gemm/hopper/small_m_gemm.hpp>
#include <tilewright/kernels/rows/softmax.hpp>
#include <tilewright/launch/launch.hpp>
#include <tilewright/machine/emulator/launch.hpp>
#include <tilewright/machine/exec/exec.hpp>
#include <tilewright/machine/exec/hopper.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace tilewright {
namespace {

constexpr index_t rows = 32, columns = 32, box_bytes = rows * columns * 4;  // of floats: rows of 128 bytes

/// `boxes` boxes of floats, one after the other, and their map.
struct boxes {
  std::vector<float> data;
  exec::tensor_map map;

  explicit boxes(index_t count, float value = 0) : data(std::size_t(count * rows * columns), value) {
    exec::make_tensor_map(map, {data.data(),
                                arch::matrix_element::f32,
                                {columns, count * rows, 1},
                                {128, count * box_bytes},
                                {columns, rows}});
  }
  exec::global_buffer buffer() { return exec::make_global_buffer(data.data(), index_t(data.size() * 4)); }
};

void launch_on_hopper(index_t grid, index_t block_size, index_t lds_bytes, auto kernel, index_t cluster = 1,
                      bool overlaps_previous = false) {
  emulator::launch({.target = &arch::sm90::value,
                    .grid = {grid},
                    .cluster = cluster,
                    .block_size = block_size,
                    .lds_bytes = lds_bytes,
                    .overlaps_previous = overlaps_previous},
                   kernel);
}

/// Thread t's four elements of the box at `lds`, without a swizzle: all are alike.
void fill_box(exec::lds_pointer lds, float value) {
  for (index_t i = exec::thread_id() * 16; i < box_bytes; i += 128 * 16)
    exec::lds_store(lds, i, array<float, 4>{{value, value, value, value}});
}
void store_box(exec::lds_pointer lds, const exec::tensor_map& map, index_t row) {
  exec::fence_async_proxy();
  exec::tma_store(map, exec::lds_address(lds), 0, row, 0);
  exec::tma_store_commit();
}

// A block stores a box, counts it; another one reads it.
TEST(Breakable, BoxIsReadByAnotherBlock) {
  boxes x(1);
  std::vector<float> y(rows * columns);
  unsigned counter = 0;
  launch_on_hopper(2, 128, box_bytes, [&] {
    const exec::lds_pointer lds = exec::lds_allocate<box_bytes>();
    const index_t thread = exec::thread_id();
    if (exec::block_id().x == 0) {
      fill_box(lds, 1);
      exec::block_sync();
      if (thread == 0) {
        store_box(lds, x.map, 0);
        exec::tma_store_wait<0>();  // by another block
        exec::add_release(&counter, 1);
      }
    } else {
      if (thread == 0) exec::wait_for_count(&counter, 1);
      exec::block_sync();  // all threads of the block follow the wait
      const exec::global_buffer to = exec::make_global_buffer(y.data(), box_bytes);
      for (index_t i = thread * 16; i < box_bytes; i += 128 * 16)
        exec::buffer_store(to, i, exec::buffer_load<array<float, 4>>(x.buffer(), i));
    }
  });
  EXPECT_EQ(y, std::vector<float>(rows * columns, 1.0f));
}

// Threads of one block write rows, a TMA load of another one reads them.
TEST(Breakable, RowsAreLoadedByAnotherBlock) {
  boxes x(1);
  unsigned counter = 0;
  float first = 0;
  launch_on_hopper(2, 128, box_bytes + 8, [&] {
    const exec::lds_pointer lds = exec::lds_allocate<box_bytes + 8>();
    const exec::mbarrier loaded{exec::lds_address(lds + box_bytes)};
    const index_t thread = exec::thread_id();
    if (exec::block_id().x == 0) {
      for (index_t i = thread * 16; i < box_bytes; i += 128 * 16)
        exec::buffer_store(x.buffer(), i, array<float, 4>{{2, 2, 2, 2}});
      exec::block_sync();  // all rows are written
      if (thread == 0) exec::add_release(&counter, 1);
      return;
    }
    if (thread == 0) {
      loaded.init(1);
      exec::fence_barrier_init();
      exec::wait_for_count(&counter, 1);
      exec::fence_async_proxy_global();
      loaded.arrive_and_expect(box_bytes);
      exec::tma_load(exec::lds_address(lds), x.map, loaded, 0, 0, 0);
    }
    exec::block_sync();
    loaded.wait(0);
    const float value = exec::lds_load<float>(lds, thread * 4);
    if (thread == 0) exec::buffer_store(exec::make_global_buffer(&first, 4), 0, value);
  });
  EXPECT_EQ(first, 2);
}

// A block doubles a box in place: TMA load, then stores of its threads; then it loads the box again.
TEST(Breakable, BoxIsChangedInPlace) {
  boxes x(1, 3);
  float again = 0;
  launch_on_hopper(1, 128, box_bytes + 8, [&] {
    const exec::lds_pointer lds = exec::lds_allocate<box_bytes + 8>();
    const exec::mbarrier loaded{exec::lds_address(lds + box_bytes)};
    const index_t thread = exec::thread_id();
    const auto load = [&] {
      loaded.arrive_and_expect(box_bytes);
      exec::tma_load(exec::lds_address(lds), x.map, loaded, 0, 0, 0);
    };
    if (thread == 0) {
      loaded.init(1);
      exec::fence_barrier_init();
      load();
    }
    exec::block_sync();
    loaded.wait(0);  // before x is changed
    for (index_t i = thread * 16; i < box_bytes; i += 128 * 16)
      exec::buffer_store(x.buffer(), i, array<float, 4>{{6, 6, 6, 6}});
    exec::fence_async_proxy_global();
    exec::block_sync();
    if (thread == 0) load();
    loaded.wait(1);
    const float value = exec::lds_load<float>(lds, thread * 4);
    if (thread == 0) exec::buffer_store(exec::make_global_buffer(&again, 4), 0, value);
  });
  EXPECT_EQ(again, 6);
}

// Two boxes of rows that follow each other, then one that replaces the first: in groups of their own.
TEST(Breakable, BoxesFollowEachOther) {
  boxes x(2);
  launch_on_hopper(1, 128, 3 * box_bytes, [&] {
    const exec::lds_pointer lds = exec::lds_allocate<3 * box_bytes>();
    for (index_t i = 0; i < 3; ++i) fill_box(lds + i * box_bytes, float(i + 1));
    exec::block_sync();
    if (exec::thread_id() != 0) return;
    store_box(lds, x.map, 0);
    store_box(lds + box_bytes, x.map, rows);  // the next rows
    exec::tma_store_wait<1>();                // the first one is written
    store_box(lds + 2 * box_bytes, x.map, 0);
    exec::tma_store_wait_read<0>();
  });
  EXPECT_EQ(x.data[0], 3);
  EXPECT_EQ(x.data[rows * columns], 2);
}

// Sums by TMA, which the block reads when they are written.
TEST(Breakable, SumsAreReadAgain) {
  std::vector<float> sums(64, 1.0f);
  float total = 0;
  launch_on_hopper(1, 32, 256, [&] {
    const exec::lds_pointer lds = exec::lds_allocate<256>();
    const index_t lane = exec::lane_id();
    exec::lds_store(lds, lane * 8, array<float, 2>{{2, 2}});
    exec::fence_async_proxy();
    exec::wave_sync();
    if (lane == 0) {
      exec::tma_reduce_add(sums.data(), exec::lds_address(lds), 128);
      exec::tma_store_commit();
      exec::tma_reduce_add(sums.data() + 32, exec::lds_address(lds + 128), 128);
      exec::tma_store_commit();
      exec::tma_store_wait<0>();  // both groups
    }
    exec::wave_sync();
    const auto own = exec::buffer_load<float>(exec::make_global_buffer(sums.data(), 256), 128 + lane * 4);
    if (lane == 0) exec::buffer_store(exec::make_global_buffer(&total, 4), 0, own);
  });
  EXPECT_EQ(total, 3);
}

// A barrier's bytes become a table when it is no longer needed.
TEST(Breakable, BarrierBecomesData) {
  boxes x(1, 4);
  std::vector<float> y(32);
  launch_on_hopper(1, 32, box_bytes + 128, [&] {
    const exec::lds_pointer lds = exec::lds_allocate<box_bytes + 128>(), table = lds + box_bytes;
    const exec::mbarrier loaded{exec::lds_address(table)};
    const index_t lane = exec::lane_id();
    if (lane == 0) {
      loaded.init(1);
      exec::fence_barrier_init();
      loaded.arrive_and_expect(box_bytes);
      exec::tma_load(exec::lds_address(lds), x.map, loaded, 0, 0, 0);
    }
    exec::wave_sync();
    loaded.wait(0);
    const auto value = exec::lds_load<float>(lds, lane * 4);
    exec::wave_sync();
    if (lane == 0) loaded.invalidate();
    exec::wave_sync();
    exec::lds_store(table, lane * 4, value);
    exec::wave_sync();
    exec::buffer_store(exec::make_global_buffer(y.data(), 128), lane * 4,
                       exec::lds_load<float>(table, (31 - lane) * 4));
  });
  EXPECT_EQ(y, std::vector<float>(32, 4.0f));
}

// A ring of one stage: a wave loads boxes, two waves read them and release the stage.
TEST(Breakable, TwoWavesReadAStage) {
  constexpr index_t steps = 4;
  boxes x(steps, 5);
  std::vector<float> y(64);
  launch_on_hopper(1, 96, box_bytes + 16, [&] {
    const exec::lds_pointer lds = exec::lds_allocate<box_bytes + 16>();
    const exec::mbarrier full{exec::lds_address(lds + box_bytes)}, empty{exec::lds_address(lds + (box_bytes + 8))};
    if (exec::thread_id() == 0) {
      full.init(1);
      empty.init(2);  // waves
      exec::fence_barrier_init();
    }
    exec::block_sync();
    float sum = 0;
    for (index_t i = 0; i < steps; ++i) {
      const auto phase = unsigned(i % 2);
      if (exec::wave_id() == 2) {
        if (exec::lane_id() == 0) {
          empty.wait(phase ^ 1);
          full.arrive_and_expect(box_bytes);
          exec::tma_load(exec::lds_address(lds), x.map, full, 0, i * rows, 0);
        }
      } else {
        full.wait(phase);
        sum += exec::lds_load<float>(lds, exec::thread_id() * 4);
        exec::wave_sync();
        if (exec::lane_id() == 0) empty.arrive();
      }
    }
    if (exec::wave_id() < 2) exec::buffer_store(exec::make_global_buffer(y.data(), 256), exec::thread_id() * 4, sum);
  });
  EXPECT_EQ(y, std::vector<float>(64, 20.0f));
}

// Two waves and a queue of two buffers, by named barriers.
TEST(Breakable, NamedBarriersOfAQueue) {
  constexpr index_t steps = 5;
  std::vector<int> y(32);
  launch_on_hopper(1, 64, 256, [&] {
    const exec::lds_pointer lds = exec::lds_allocate<256>();
    const index_t lane = exec::lane_id();
    int sum = 0;
    for (index_t i = 0; i < steps; ++i) {
      const index_t full = 1 + i % 2, empty = 3 + i % 2, at = i % 2 * 128 + lane * 4;
      if (exec::wave_id() == 0) {
        if (i >= 2) exec::named_sync<64>(empty);
        exec::lds_store(lds, at, i + 1);
        exec::named_arrive<64>(full);
      } else {
        exec::named_sync<64>(full);
        sum += exec::lds_load<int>(lds, at ^ 4);
        if (i + 2 < steps) exec::named_arrive<64>(empty);
      }
    }
    if (exec::wave_id() == 1) exec::buffer_store(exec::make_global_buffer(y.data(), 128), lane * 4, sum);
  });
  EXPECT_EQ(y, std::vector<int>(32, 15));
}

// Blocks of a cluster exchange numbers twice.
TEST(Breakable, BlocksOfAClusterExchange) {
  std::vector<int> y(2 * 32);
  launch_on_hopper(
      2, 32, 256,
      [&] {
        const exec::lds_pointer lds = exec::lds_allocate<256>();
        const index_t lane = exec::lane_id(), own = exec::block_of_cluster(), other = 1 - own;
        exec::cluster_sync();  // both have started
        exec::lds_store_in(other, lds, lane * 4, 10 + own);
        exec::cluster_sync_lds();  // the numbers have arrived
        const int first = exec::lds_load<int>(lds, lane * 4);
        exec::lds_store_in(other, lds, 128 + lane * 4, first + 10);
        exec::cluster_sync_lds();  // and the second ones
        exec::buffer_store(exec::make_global_buffer(y.data(), 256), (own * 32 + lane) * 4,
                           exec::lds_load<int>(lds, 128 + lane * 4));
      },
      2);
  EXPECT_EQ(y[0], 20);
  EXPECT_EQ(y[32], 21);
}

// Three launches, each of which may start before the one before has ended.
TEST(Breakable, LaunchesOverlap) {
  std::vector<int> x(64), y(64), z(64);
  const auto at = [](std::vector<int>& v) { return exec::make_global_buffer(v.data(), 256); };
  const auto launch_one = [&](auto work) {
    launch_on_hopper(
        1, 64, 16,
        [&] {
          exec::grid_dependency_launch();
          work(exec::thread_id() * 4);
        },
        1, true);
  };
  launch_one([&](index_t byte) {
    exec::grid_dependency_wait();  // the first one
    exec::buffer_store(at(x), byte, 1);
  });
  launch_one([&](index_t byte) {
    exec::grid_dependency_wait();  // the second one
    exec::buffer_store(at(y), byte, exec::buffer_load<int>(at(x), 252 - byte) + 1);
  });
  launch_one([&](index_t byte) {
    exec::grid_dependency_wait();  // the third one
    exec::buffer_store(at(z), byte, exec::buffer_load<int>(at(x), byte) + exec::buffer_load<int>(at(y), byte));
  });
  EXPECT_EQ(z, std::vector<int>(64, 3));
}

// Rows of C that a GEMM wrote are the next one's A; and a GEMM of few rows follows softmax.
TEST(Breakable, KernelsReadWhatThePreviousOneWrote) {
  using enum operand_major;
  using policy = gemm_hopper<bfloat16_t, k, k, hopper_gemm_tile{.m = 64, .n = 64, .consumers = 1}>;
  std::vector<bfloat16_t> a(64 * 64, bfloat16_t(1.0f)), b(64 * 64, bfloat16_t(0.5f)), c(64 * 64, bfloat16_t(0.0f)),
      d = c;
  gemm_args args{
      .a = a.data(), .b = b.data(), .c = c.data(), .m = 64, .n = 64, .k = 64, .lda = 64, .ldb = 64, .ldc = 64};
  launch<gemm_kernel<policy>>(args);
  launch<softmax<arch::sm90, bfloat16_t, row_tile{64, 64, 2, 8}>>({c.data(), c.data(), 64, 64, 64, 64});
  args.a = c.data(), args.c = d.data(), args.beta = 0;
  launch<gemm_kernel<policy>>(args);
  args.beta = 1;
  launch<gemm_kernel<policy>>(args);
  args.m = 16, args.a = d.data(), args.c = c.data(), args.beta = 0;
  launch<small_m_gemm<small_m_policy<bfloat16_t, k, k, 8, 8>>>(args);
  EXPECT_EQ(float(c[0]), 32.0f);
}

// Blocks add to sums one after the other: the same bits in each run.
TEST(Breakable, SumsInOrderOfBlocks) {
  std::vector<float> sums(32);
  unsigned counter = 0;
  launch_on_hopper(3, 32, 16, [&] {
    const auto block = unsigned(exec::block_id().x);
    exec::guarantee_same_bits();
    if (exec::lane_id() == 0) exec::wait_for_count(&counter, block);  // those before
    exec::wave_sync();
    exec::buffer_atomic<exec::atomic_op::add>(exec::make_global_buffer(sums.data(), 128), exec::lane_id() * 4, 1.5f);
    exec::wave_sync();
    if (exec::lane_id() == 0) exec::add_release(&counter, 1);  // this one
  });
  EXPECT_EQ(sums, std::vector<float>(32, 4.5f));
}

// Direct-to-LDS loads of CDNA: the waves read each other's.
TEST(Breakable, DirectLoadsOfCdna) {
  std::vector<int> x(4 * 128), y(128);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = int(i);
  emulator::launch({.target = &arch::gfx942::value, .grid = {1}, .block_size = 128, .lds_bytes = 1024}, [&] {
    const exec::lds_pointer lds = exec::lds_allocate<1024>();
    const exec::global_buffer from = exec::make_global_buffer(x.data(), 2048);
    const index_t thread = exec::thread_id();
    int sum = 0;
    exec::async_load_to_lds<4>(from, thread * 4, lds, thread * 4);
    for (index_t i = 0; i < 4; ++i) {
      const index_t here = i % 2 * 512, next = 512 - here;
      if (i + 1 < 4) exec::async_load_to_lds<4>(from, (i + 1) * 512 + thread * 4, lds, next + thread * 4);
      i + 1 < 4 ? exec::async_wait<1>() : exec::async_wait<0>();
      exec::block_sync();  // all waves' loads have arrived
      sum += exec::lds_load<int>(lds, here + (127 - thread) * 4);
      exec::wait_for_lds<0>();
      exec::block_sync();  // the buffer is free
    }
    exec::buffer_store(exec::make_global_buffer(y.data(), 512), thread * 4, sum);
  });
  EXPECT_EQ(y[0], 127 * 4 + 128 * 6);
}

}  // namespace
}  // namespace tilewright
