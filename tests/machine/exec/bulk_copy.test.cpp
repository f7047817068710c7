// SPDX-License-Identifier: MIT
// Bulk copies on the CPU: which bytes go where, also at edges, and that they are as late as they may be.
#include "../emulator/fault_text.hpp"

#include <tilewright/core/arch/arch.hpp>
#include <tilewright/core/lds/layout_presets.hpp>
#include <tilewright/machine/emulator/launch.hpp>
#include <tilewright/machine/exec/hopper.hpp>
#include <tilewright/machine/exec/host/make_tensor_map.hpp>

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

namespace tilewright {
namespace {

using element = unsigned short;

/// Two planes of rows of 40 elements, 48 apart, with numbers that tell where they are.
struct tensor {
  static constexpr index_t columns = 40, pitch = 48, rows = 21, planes = 2;
  std::vector<element> data = std::vector<element>(pitch * rows * planes);
  exec::tensor_map map{};

  explicit tensor(index_t box_columns, index_t length = columns) {
    std::iota(data.begin(), data.end(), element(1));
    exec::make_tensor_map(map, {data.data(),
                                arch::matrix_element::f16,
                                {length, rows, planes},
                                {pitch * 2, pitch * rows * 2},
                                {box_columns, box_rows}});
  }
  static constexpr index_t box_rows = 16;

  static bool is_inside(index_t x, index_t y, index_t z) {
    return x >= 0 && x < columns && y >= 0 && y < rows && z >= 0 && z < planes;
  }
  element* at(index_t x, index_t y, index_t z) { return &data[std::size_t((z * rows + y) * pitch + x)]; }
};

constexpr index_t box_place = 1024, other_place = 8192, lds_bytes = 16384;

template <class Kernel>
emulator::launch_report run(Kernel kernel, index_t cluster = 1) {
  return emulator::launch({.target = &arch::sm90::value,
                           .grid = {cluster},
                           .cluster = cluster,
                           .block_size = 64,
                           .lds_bytes = lds_bytes,
                           .workers = 1,
                           .check_lds = emulator::lds_checks::on},
                          kernel);
}

template <class Kernel>
std::string fault_of(Kernel kernel, index_t cluster = 1) {
  return testing_exec::fault_text("bulk_copy.test.cpp", [&] { run(kernel, cluster); });
}

/// Barrier 0 of the block, initialised for one arrival.
exec::mbarrier make_barrier() {
  const exec::mbarrier b{exec::lds_address(exec::lds_allocate<lds_bytes>())};
  if (exec::thread_id() == 0) {
    b.init(1);
    exec::fence_barrier_init();
  }
  exec::block_sync();
  exec::cluster_sync();
  return b;
}

element element_in_lds(index_t row_bytes, index_t row, index_t column) {
  return exec::lds_load<element>(
      {}, tilewright::detail::tma_swizzled_address(row_bytes, box_place + row * row_bytes + column * 2));
}

TEST(BulkCopy, LoadsWhatIsInsideAndZeros) {
  for (const index_t columns : {32, 64}) {
    tensor t(columns);
    struct position {
      index_t x, y, z;
    };
    for (const position p : {position{0, 0, 0}, {8, 7, 1}, {-3, -5, 0}, {38, 20, 1}, {0, 0, 2}, {0, 0, -1}}) {
      run([&] {
        const exec::mbarrier done = make_barrier();
        if (exec::thread_id() == 0) {
          done.arrive_and_expect(columns * 2 * tensor::box_rows);
          exec::tma_load(box_place, t.map, done, p.x, p.y, p.z);
        }
        done.wait(0);
        if (exec::thread_id() != 0) return;
        for (index_t row = 0; row < tensor::box_rows; ++row) {
          for (index_t column = 0; column < columns; ++column) {
            const bool inside = tensor::is_inside(p.x + column, p.y + row, p.z);
            EXPECT_EQ(element_in_lds(columns * 2, row, column),
                      inside ? *t.at(p.x + column, p.y + row, p.z) : element(0));
          }
        }
      });
    }
  }
}

// Two coordinates whose strides are alike: what is outside of the second dimension is outside, wherever it is in
// memory.
TEST(BulkCopy, FiveDimensions) {
  tensor t(32);
  const index_t first = 4, end = 9;  // rows of plane 1
  exec::make_tensor_map(t.map, {t.at(0, 0, 1) - tensor::rows * tensor::pitch,
                                arch::matrix_element::f16,
                                {tensor::columns, tensor::rows, 1, 100, 1},
                                {tensor::pitch * 2, 16, tensor::pitch * 2, 16},
                                {32, tensor::box_rows}});
  run([&] {
    const exec::mbarrier done = make_barrier();
    if (exec::thread_id() == 0) {
      done.arrive_and_expect(64 * tensor::box_rows);
      exec::tma_load(box_place, t.map, done, {{8, tensor::rows - end + first, 0, end, 0}});
    }
    done.wait(0);
    if (exec::thread_id() != 0) return;
    for (index_t row = 0; row < tensor::box_rows; ++row)
      EXPECT_EQ(element_in_lds(64, row, 5), first + row < end ? *t.at(13, first + row, 1) : element(0));
    exec::tma_store(t.map, box_place, {{0, tensor::rows - 1, 0, end, 0}});
    exec::tma_store_commit();
    exec::tma_store_wait_read<0>();
  });
  tensor expected(32);
  for (index_t column = 0; column < 32; ++column) *expected.at(column, end - 1, 1) = *expected.at(column + 8, first, 1);
  EXPECT_EQ(t.data, expected.data);
}

TEST(BulkCopy, StoresWhatIsInsideAndNothingElse) {
  for (const index_t columns : {32, 64}) {
    tensor t(columns), expected(columns);
    const index_t x = 24, y = 10, z = 1;
    for (index_t row = 0; row < tensor::box_rows; ++row) {
      for (index_t column = 0; column < columns; ++column) {
        if (tensor::is_inside(x + column, y + row, z))
          *expected.at(x + column, y + row, z) = element(10000 + row * 100 + column);
      }
    }
    run([&] {
      exec::lds_allocate<lds_bytes>();
      if (exec::thread_id() != 0) return;
      for (index_t row = 0; row < tensor::box_rows; ++row) {
        for (index_t column = 0; column < columns; ++column) {
          exec::lds_store(
              {}, tilewright::detail::tma_swizzled_address(columns * 2, box_place + row * columns * 2 + column * 2),
              element(10000 + row * 100 + column));
        }
      }
      exec::fence_async_proxy();
      exec::tma_store(t.map, box_place, x, y, z);
      exec::tma_store_commit();
      exec::tma_store_wait_read<0>();
    });
    EXPECT_EQ(t.data, expected.data);
  }
}

TEST(BulkCopy, AddsFloatsOfAllBlocks) {
  alignas(16) std::array<float, 12> sums{100, 200};
  const auto kernel = [&](index_t bytes) {
    exec::lds_allocate<lds_bytes>();
    if (exec::thread_id() != 0) return;
    for (index_t i = 0; i < 8; ++i) exec::lds_store({}, box_place + 4 * i, float(i + 1));
    exec::fence_async_proxy();
    exec::tma_reduce_add(sums.data() + 4, box_place, bytes);
    exec::tma_store_commit();
    exec::tma_store_wait<0>();
  };
  run([&] { kernel(32); }, 4);
  EXPECT_EQ(sums, (std::array<float, 12>{100, 200, 0, 0, 4, 8, 12, 16, 20, 24, 28, 32}));
  EXPECT_EQ(fault_of([&] { kernel(24); }),
            "thread 0 of block (0, 0, 0) adds 24 bytes (here); size and both addresses must be multiples of 16 bytes");
}

TEST(BulkCopy, PrefetchesSixteenBytesAtATime) {
  alignas(16) static std::array<float, 12> data{};
  const auto prefetch = [](const float* from, index_t bytes) {
    return fault_of([=] {
      if (exec::thread_id() == 0) exec::prefetch_to_l2(from, bytes);
    });
  };
  EXPECT_EQ(prefetch(&data[4], 32), "no fault");
  for (const auto& [from, bytes] : {std::pair(&data[4], 24), std::pair(&data[5], 16)})
    EXPECT_EQ(prefetch(from, bytes), "thread 0 of block (0, 0, 0) prefetches " + std::to_string(bytes) +
                                         " bytes (here); size and address must be multiples of 16 bytes");
}

// As an H100 does.
TEST(BulkCopy, StoresCompleteSixteenBytesWithZeros) {
  tensor t(64, 37), expected(64);
  for (index_t row = 18; row < 21; ++row) {
    for (index_t column = 0; column < 40; ++column) *expected.at(column, row, 0) = column < 37 ? 9 : 0;
  }
  run([&] {
    exec::lds_allocate<lds_bytes>();
    if (exec::thread_id() != 0) return;
    for (index_t i = 0; i < tensor::box_rows * 64; ++i) exec::lds_store({}, box_place + 2 * i, element(9));
    exec::fence_async_proxy();
    exec::tma_store(t.map, box_place, 0, 18, 0);
    exec::tma_store_commit();
    exec::tma_store_wait_read<0>();
  });
  EXPECT_EQ(t.data, expected.data);
}

TEST(BulkCopy, MulticastFillsTheBlocksOfItsMask) {
  tensor t(64);
  std::vector<element> seen(4, 0xffff);
  run(
      [&] {
        const exec::mbarrier done = make_barrier();
        const index_t rank = exec::block_of_cluster();
        if (rank % 2 == 1 && exec::thread_id() == 0) done.arrive_and_expect(tensor::box_rows * 128);
        if (rank == 2 && exec::thread_id() == 0) exec::tma_load_multicast(box_place, t.map, done, 0b1010, 5, 6, 1);
        if (rank % 2 == 1) done.wait(0);
        if (rank % 2 == 1 && exec::thread_id() == 0) seen[std::size_t(rank)] = element_in_lds(128, 3, 2);
        exec::cluster_sync();
      },
      4);
  EXPECT_EQ(seen, (std::vector<element>{0xffff, *t.at(7, 9, 1), 0xffff, *t.at(7, 9, 1)}));
}

// The copy that was begun last comes first; nothing comes while a thread can go on.
TEST(BulkCopy, ComesWhenNothingElseCanHappen) {
  tensor t(64);
  const auto kernel = [&](index_t reads) {
    const exec::mbarrier one = make_barrier(), other{one.address + 8};
    if (exec::thread_id() == 0) {
      other.init(1);
      exec::fence_barrier_init();
      for (const exec::mbarrier b : {one, other}) {
        b.arrive_and_expect(2048);
        exec::tma_load(b.address == one.address ? box_place : other_place, t.map, b, 0, 0, 0);
      }
    }
    exec::block_sync();
    if (exec::thread_id() != 40) return;
    one.wait(0);
    exec::lds_load<element>({}, reads);
    other.wait(0);
  };
  EXPECT_EQ(fault_of([&] { kernel(box_place); }), "no fault");
  EXPECT_EQ(fault_of([&] { kernel(other_place); }),
            "thread 40 of block (0, 0, 0) reads LDS byte 8192 (here) without having waited for the barrier of the TMA "
            "copy (here) to there");
}

TEST(BulkCopy, WhatIsMissingBetweenACopyAndOtherAccesses) {
  tensor t(64);
  enum { nothing, wait, fill_order, fence, announcement };
  const auto kernel = [&](int missing) {
    const exec::mbarrier done{exec::lds_address(exec::lds_allocate<lds_bytes>())};
    const bool first = exec::thread_id() == 0;
    if (first) {
      done.init(1);
      exec::fence_barrier_init();
    }
    exec::block_sync();
    exec::lds_store({}, box_place + 1024 + exec::thread_id() * 4, 7);
    if (missing != fill_order) exec::block_sync();
    if (first) {
      if (missing != fence) exec::fence_async_proxy();
      if (missing != announcement) done.arrive_and_expect(2048);
      exec::tma_load(box_place, t.map, done, 0, 0, 0);
      if (missing != wait) done.wait(0);
      exec::tma_store(t.map, box_place, 0, 0, 0);
      exec::tma_store_commit();
      exec::tma_store_wait_read<0>();
      exec::lds_store({}, box_place, 1);
    }
  };
  const auto fault_without = [&](int missing) { return fault_of([&] { kernel(missing); }); };
  EXPECT_EQ(fault_without(nothing), "no fault");
  EXPECT_EQ(
      fault_without(wait),
      "thread 0 of block (0, 0, 0) copies from LDS bytes 1024 to 1027 (here) before the copy by thread 0 (here) to "
      "there was waited for");
  EXPECT_EQ(
      fault_without(fill_order),
      "thread 0 of block (0, 0, 0) copies to LDS bytes 2176 to 2179 (here) that thread 32 wrote (here) with no barrier "
      "between");
  EXPECT_EQ(fault_without(fence),
            "thread 0 of block (0, 0, 0) copies to LDS bytes 2048 to 2051 (here) that thread 0 wrote (here) without a "
            "fence_async_proxy() between");
  EXPECT_EQ(fault_without(announcement),
            "thread 0 of block (0, 0, 0) waits forever at a barrier in LDS (here), where 1 of 1 arrivals are missing, "
            "and 2048 bytes came that no thread has announced");
}

TEST(BulkCopy, PlacesAndRequestsThatAreNone) {
  tensor t(64);
  EXPECT_EQ(
      fault_of([&] {
        exec::lds_allocate<lds_bytes>();
        exec::tma_store(t.map, 15360, 0, 0, 0);
      }),
      "thread 0 of block (0, 0, 0) copies a box of 2048 bytes (here) at LDS byte 15360, outside of the 16384 bytes "
      "that it has allocated");
  const auto is_refused = [&](const char* why, const exec::tensor_map_request& r) {
    return testing_exec::is_refused(why, [&] { exec::make_tensor_map(t.map, r); });
  };
  const arch::matrix_element f16 = arch::matrix_element::f16;
  EXPECT_TRUE(is_refused("must begin at a multiple", {t.data.data() + 1, f16, {8, 8, 1}, {16, 16}, {64, 8}}));
  EXPECT_TRUE(is_refused("strides must be", {t.data.data(), f16, {8, 8, 1}, {24, 16}, {64, 8}}));
  EXPECT_TRUE(is_refused("lengths must be", {t.data.data(), f16, {8, 0, 1}, {16, 16}, {64, 8}}));
  EXPECT_TRUE(is_refused("1 to 256 elements", {t.data.data(), f16, {8, 8, 1}, {16, 16}, {64, 257}}));
  EXPECT_TRUE(is_refused("64 or 128 bytes long", {t.data.data(), f16, {8, 8, 1}, {16, 16}, {48, 8}}));
}

}  // namespace
}  // namespace tilewright
