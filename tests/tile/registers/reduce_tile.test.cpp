// SPDX-License-Identifier: MIT
// Reductions over threads, lanes and waves, of distributions of every shape, against sums element by element.
#include "../on_cpu.hpp"

#include <tilewright/tile/copy/shuffle_tile.hpp>
#include <tilewright/tile/registers/reduce_tile.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace tilewright {
namespace {

using namespace testing_tiles;

int value_at(const multi_index<2>& x) { return (x[0] * 31 + x[1] * 17) % 101 - 50; }

/// Reduces dimension Dim of a tile whose elements are numbers of their position;
/// every thread must hold the result of what it owns.
template <index_t Dim, class Distribution, class F, class Combine>
void expect_reduction(const arch::target& target, F f, Combine combine, int identity) {
  using reduced = tile_distribution<reduce(Distribution::encoding, array<index_t, 1>{Dim})>;
  const auto where = positions<Distribution>();
  const auto results = positions<reduced>();
  std::vector<int> found(results.size());
  constexpr index_t lds_bytes = reduce_lds_bytes<static_distributed_tensor<short, Distribution>, Dim>;
  run<Distribution>(
      target,
      [&] {
        static_distributed_tensor<short, Distribution> tile;
        for (index_t d = 0; d < Distribution::num_elements; ++d)
          tile.thread_buffer[d] =
              short(value_at(where[std::size_t(exec::thread_id() * Distribution::num_elements + d)]));
        const auto result = [&] {
          if constexpr (lds_bytes == 0) return reduce<Dim>(tile, f);
          if constexpr (lds_bytes > 0) return reduce<Dim>(tile, f, exec::lds_allocate<lds_bytes>());
        }();
        static_assert(__is_same(decltype(result), const static_distributed_tensor<int, reduced>));
        for (index_t d = 0; d < reduced::num_elements; ++d)
          found[std::size_t(exec::thread_id() * reduced::num_elements + d)] = result.thread_buffer[d];
      },
      lds_bytes);
  const auto lengths = Distribution::get_lengths();
  for (std::size_t i = 0; i < results.size(); ++i) {
    int expected = identity;
    for (index_t j = 0; j < lengths[Dim]; ++j) {
      multi_index<2> x;
      x[Dim] = j;
      x[1 - Dim] = results[i][0];
      expected = combine(expected, value_at(x));
    }
    ASSERT_EQ(found[i], expected) << target.name << ", element " << i;
  }
}

template <class Distribution>
void expect_reductions(const arch::target& target) {
  const auto sum = [](int a, int b) { return a + b; };
  const auto largest = [](int a, int b) { return std::max(a, b); };
  const auto smallest = [](int a, int b) { return std::min(a, b); };
  expect_reduction<0, Distribution>(target, plus, sum, 0);
  expect_reduction<1, Distribution>(target, plus, sum, 0);
  expect_reduction<0, Distribution>(target, max, largest, -1000);
  expect_reduction<1, Distribution>(target, min, smallest, 1000);
}

/// Waves are split between the dimensions, lanes in three pieces that alternate.
template <index_t Wave>
using mixed = tile_distribution<tile_distribution_encoding<
    sequence<>, tuple<sequence<2, 2, 4>, sequence<2, 3, Wave / 8, 2>>, tuple<sequence<2, 1>, sequence<2, 1, 2>>,
    tuple<sequence<0, 1>, sequence<2, 2, 3>>, sequence<1, 2>, sequence<0, 1>>::value>;
/// A tile of one wave, with a length that is no power of two in each thread.
template <index_t Wave>
using one_wave =
    tile_distribution<tile_distribution_encoding<sequence<>, tuple<sequence<5>, sequence<Wave, 2>>, tuple<sequence<2>>,
                                                 tuple<sequence<0>>, sequence<1, 2>, sequence<0, 1>>::value>;

/// Eight waves, which differ along columns in their first and in their last bit, along rows in the one between.
template <index_t Wave>
using eight_waves = tile_distribution<tile_distribution_encoding<
    sequence<>, tuple<sequence<2, 4>, sequence<2, 2, Wave / 4, 2>>, tuple<sequence<2, 1, 2>, sequence<1, 2>>,
    tuple<sequence<0, 0, 1>, sequence<1, 2>>, sequence<2>, sequence<3>>::value>;

TEST(BlockTileReduce, OfEveryShape) {
  for (const arch::target* target : arch::all_targets) {
    if (target->wave_size == 64) {
      expect_reductions<by_rows<64>>(*target);
      expect_reductions<by_columns<64>>(*target);
      expect_reductions<mixed<64>>(*target);
      expect_reductions<one_wave<64>>(*target);
      expect_reductions<eight_waves<64>>(*target);
    } else {
      expect_reductions<by_rows<32>>(*target);
      expect_reductions<by_columns<32>>(*target);
      expect_reductions<mixed<32>>(*target);
      expect_reductions<one_wave<32>>(*target);
      expect_reductions<eight_waves<32>>(*target);
    }
  }
}

/// A factor of R that the tile has already is no part of a sum, whereas one that the reduction makes is.
TEST(Reduce, CountsCopiesOnce) {
  using copied = tile_distribution<
      tile_distribution_encoding<sequence<4>, tuple<sequence<2>, sequence<4, 4, 2>>, tuple<sequence<0, 2, 2>>,
                                 tuple<sequence<0, 0, 1>>, sequence<1, 2>, sequence<0, 2>>::value>;
  std::vector<float> found(64 * 2);
  run<copied>(arch::gfx942::value, [&] {
    static_distributed_tensor<half_t, copied> tile;
    set_tile(tile, half_t(1.0f));
    tile.thread_buffer[2] = half_t(2.0f);  // in row 1
    const auto sums = row_reduce(tile, plus, 0.5f);
    for (index_t d = 0; d < 2; ++d) found[std::size_t(exec::thread_id() * 2 + d)] = sums.thread_buffer[d];
  });
  for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], i % 2 ? 32.5f + 16.0f : 32.5f);
}

/// Rows and columns of each of two matrices at once.
TEST(Reduce, SeveralDimensions) {
  using distribution = tile_distribution<
      tile_distribution_encoding<sequence<>, tuple<sequence<2>, sequence<3>, sequence<64, 2>>, tuple<sequence<3>>,
                                 tuple<sequence<0>>, sequence<1, 2, 3>, sequence<0, 0, 1>>::value>;
  std::vector<float> found(2);
  run<distribution>(arch::gfx942::value, [&] {
    static_distributed_tensor<float, distribution> tile;
    for (index_t d = 0; d < 12; ++d) tile.thread_buffer[d] = float(d / 6 + d % 6);  // registers of a matrix: 6
    const auto sums = reduce<1, 2>(tile, plus);
    for (index_t d = 0; d < 2; ++d) found[std::size_t(d)] = sums.thread_buffer[d];
  });
  EXPECT_EQ(found, (std::vector<float>{64 * 15, 64 * 21}));
}

/// The result does not depend on where a NaN is; a row of NaN alone gives NaN.
TEST(Reduce, MaxAndMinIgnoreNaN) {
  using distribution = one_wave<64>;
  std::vector<float> largest(5), smallest(5), running(5);
  run<distribution>(arch::gfx942::value, [&] {
    static_distributed_tensor<float, distribution> tile;
    const index_t lane = exec::lane_id();
    for (index_t d = 0; d < 10; ++d) {
      const index_t row = d / 2, column = lane * 2 + d % 2;
      tile.thread_buffer[d] = row == 4 || column % (row + 2) == 0 ? __builtin_nanf("") : float(column);
    }
    const auto most = row_reduce(tile, max);
    const auto least = row_reduce(tile, min);
    const auto now = row_reduce(tile, max, most);
    for (index_t d = 0; d < 5 && lane == 0; ++d) {
      largest[std::size_t(d)] = most.thread_buffer[d];
      smallest[std::size_t(d)] = least.thread_buffer[d];
      running[std::size_t(d)] = now.thread_buffer[d];
    }
  });
  for (index_t row = 0; row < 4; ++row) {
    EXPECT_EQ(largest[std::size_t(row)], 127 % (row + 2) == 0 ? 126.0f : 127.0f);
    EXPECT_EQ(smallest[std::size_t(row)], 1.0f);
    EXPECT_EQ(running[std::size_t(row)], largest[std::size_t(row)]);
  }
  EXPECT_TRUE(largest[4] != largest[4] && smallest[4] != smallest[4] && running[4] != running[4]);
}

/// Your own function, and a running result that LDS was needed for.
TEST(RowReduce, AcrossWavesWithAnInitialTile) {
  using distribution = mixed<64>;
  using tile_type = static_distributed_tensor<int, distribution>;
  constexpr index_t lds_bytes = reduce_lds_bytes<tile_type, 1>;
  static_assert(lds_bytes == 4 * 2 * 4 * 4);  // waves, registers, lanes with other rows, bytes
  bool right = true;
  run<distribution>(
      arch::gfx942::value,
      [&] {
        const exec::lds_pointer lds = exec::lds_allocate<lds_bytes>();
        tile_type tile;
        set_tile(tile, 6);
        const auto any = [](int a, int b) { return a | b; };
        const auto first = row_reduce(tile, any, lds);
        exec::block_sync();
        set_tile(tile, 1);
        const auto second = row_reduce(tile, any, first, lds);
        if (first.thread_buffer[0] != 6 || second.thread_buffer[1] != 7) right = false;
      },
      lds_bytes);
  EXPECT_TRUE(right);
}

/// LDS that is used again without a barrier, in each form that takes LDS: the fault names the kernel's line.
TEST(RowReduce, FaultsNameTheLineOfTheCall) {
  using distribution = mixed<64>;
  using tile_type = static_distributed_tensor<float, distribution>;
  constexpr index_t lds_bytes = reduce_lds_bytes<tile_type, 1>;
  const auto fault_of = [&](auto reduce_again) -> std::string {
    try {
      run<distribution>(
          arch::gfx942::value,
          [&] {
            const exec::lds_pointer lds = exec::lds_allocate<lds_bytes>();
            tile_type tile;
            set_tile(tile, 1.0f);
            const auto sums = row_reduce(tile, plus, lds);
            reduce_again(tile, sums, lds);
          },
          lds_bytes);
    } catch (const emulator::fault& fault) {
      return fault.what();
    }
    return "";
  };
  const auto expect_line = [&](auto reduce_again, int line) {
    const std::string fault = fault_of(reduce_again);
    EXPECT_NE(fault.find("reduce_tile.test.cpp:" + std::to_string(line)), std::string::npos) << fault;
    EXPECT_EQ(fault.find(".hpp"), std::string::npos) << fault;
  };
  // clang-format off
  expect_line([](const auto& tile, const auto&, auto lds) { (void)row_reduce(tile, plus, lds); }, __LINE__);
  expect_line([](const auto& tile, const auto& sums, auto lds) { (void)row_reduce(tile, plus, sums, lds); }, __LINE__);
  expect_line([](const auto& tile, const auto&, auto lds) { (void)row_reduce(tile, plus, 1.0f, lds); }, __LINE__);
  // clang-format on
}

TEST(CombineLanes, OfNumbersThatAreNoPowersOfTwo) {
  std::vector<int> found(64);
  emulator::launch({.target = &arch::gfx942::value, .block_size = 64, .workers = 1}, [&] {
    const index_t lane = exec::lane_id();
    const int sum = detail::combine_lanes<4, 3>(1 << lane % 24,
                                                plus);  // 5 groups of 12 lanes, the last 4 lanes are left over
    if (lane < 60) found[std::size_t(lane)] = sum;
  });
  for (index_t lane = 0; lane < 60; ++lane) {
    const index_t first = lane / 12 * 12 + lane % 4;
    ASSERT_EQ(found[std::size_t(lane)], (1 << first % 24) + (1 << (first + 4) % 24) + (1 << (first + 8) % 24)) << lane;
  }
}

/// Results that several threads hold can be given another distribution: one of them writes.
TEST(ShuffleTile, OfReplicatedElements) {
  using replicated = tile_distribution<
      tile_distribution_encoding<sequence<2, 4>, tuple<sequence<16, 2>>, tuple<sequence<0>, sequence<0, 1>>,
                                 tuple<sequence<0>, sequence<1, 0>>, sequence<1>, sequence<1>>::value>;
  using spread = tile_distribution<
      tile_distribution_encoding<sequence<4>, tuple<sequence<2, 16>>, tuple<sequence<1>, sequence<0, 1>>,
                                 tuple<sequence<0>, sequence<0, 1>>, sequence<>, sequence<>>::value>;
  const auto from = positions<replicated>();
  const auto to = positions<spread>();
  std::vector<int> found(to.size());
  constexpr index_t lds_bytes = 32 * sizeof(int);
  run<replicated>(
      arch::gfx90a::value,
      [&] {
        static_distributed_tensor<int, replicated> in;
        static_distributed_tensor<int, spread> out;
        for (index_t d = 0; d < 2; ++d) in.thread_buffer[d] = from[std::size_t(exec::thread_id() * 2 + d)][0] * 3;
        shuffle_tile(out, in, exec::lds_allocate<lds_bytes>());
        found[std::size_t(exec::thread_id())] = out.thread_buffer[0];
      },
      lds_bytes);
  for (std::size_t i = 0; i < to.size(); ++i) ASSERT_EQ(found[i], to[i][0] * 3);
}

TEST(TransposeTile2d, ExchangesRegistersOfAThread) {
  using in_distribution = tile_distribution<
      tile_distribution_encoding<sequence<>, tuple<sequence<8, 2>, sequence<8, 4>>, tuple<sequence<1, 2>>,
                                 tuple<sequence<0, 0>>, sequence<1, 2>, sequence<1, 1>>::value>;
  using out_distribution = tile_distribution<
      tile_distribution_encoding<sequence<>, tuple<sequence<8, 4>, sequence<8, 2>>, tuple<sequence<2, 1>>,
                                 tuple<sequence<0, 0>>, sequence<1, 2>, sequence<1, 1>>::value>;
  constexpr auto out = [] {
    static_distributed_tensor<int, in_distribution> in{};
    for (index_t d = 0; d < 8; ++d) in.thread_buffer[d] = d;
    static_distributed_tensor<int, out_distribution> result{};
    transpose_tile2d(result, in);
    return result;
  }();
  for (index_t i = 0; i < 2; ++i) {
    for (index_t j = 0; j < 4; ++j) EXPECT_EQ(out.thread_buffer[j * 2 + i], i * 4 + j);
  }
}

}  // namespace
}  // namespace tilewright
