// SPDX-License-Identifier: MIT
// Reductions over threads, lanes and waves, of distributions of every shape, against sums element by element.
#include "on_cpu.hpp"

#include <tilewright/tile/reduce_tile.hpp>
#include <tilewright/tile/shuffle_tile.hpp>

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
  constexpr index_t lds_bytes = block_tile_reduce_lds_bytes<static_distributed_tensor<int, reduced>>;
  run<Distribution>(
      target,
      [&] {
        static_distributed_tensor<short, Distribution> tile;
        for (index_t d = 0; d < Distribution::num_elements; ++d)
          tile.thread_buffer[d] =
              short(value_at(where[std::size_t(exec::thread_id() * Distribution::num_elements + d)]));
        auto sum = block_tile_reduce<int>(tile, sequence<Dim>{}, f, F::template identity<int>());
        static_assert(__is_same(typename decltype(sum)::distribution_type, reduced));
        block_tile_reduce_sync(sum, f);
        block_tile_reduce_cross_wave_sync(sum, exec::lds_allocate<lds_bytes>(), f);
        for (index_t d = 0; d < reduced::num_elements; ++d)
          found[std::size_t(exec::thread_id() * reduced::num_elements + d)] = sum.thread_buffer[d];
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
  expect_reduction<0, Distribution>(target, reduce_sum{}, sum, 0);
  expect_reduction<1, Distribution>(target, reduce_sum{}, sum, 0);
  expect_reduction<0, Distribution>(target, reduce_max{}, largest, -1000);
  expect_reduction<1, Distribution>(target, reduce_min{}, smallest, 1000);
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

TEST(ReduceFunctions, HaveNeutralValues) {
  static_assert(reduce_max{}(reduce_max::identity<float>(), -3e38f) == -3e38f &&
                reduce_min{}(reduce_min::identity<float>(), 3e38f) == 3e38f);
  static_assert(reduce_max{}(reduce_max::identity<int>(), -2147483647 - 1) == -2147483647 - 1 &&
                reduce_sum::identity<int>() == 0);
}

TEST(CombineLanes, OfNumbersThatAreNoPowersOfTwo) {
  std::vector<int> found(64);
  emulator::launch({.target = &arch::gfx942::value, .block_size = 64, .workers = 1}, [&] {
    const index_t lane = exec::lane_id();
    const int sum = detail::combine_lanes<4, 3>(1 << lane % 24,
                                                reduce_sum{});  // 5 groups of 12 lanes, the last 4 lanes are left over
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
  run<replicated>(
      arch::gfx90a::value,
      [&] {
        static_distributed_tensor<int, replicated> in;
        static_distributed_tensor<int, spread> out;
        for (index_t d = 0; d < 2; ++d) in.thread_buffer[d] = from[std::size_t(exec::thread_id() * 2 + d)][0] * 3;
        shuffle_tile(out, in, exec::lds_allocate<shuffle_tile_lds_bytes<int, replicated>>());
        found[std::size_t(exec::thread_id())] = out.thread_buffer[0];
      },
      shuffle_tile_lds_bytes<int, replicated>);
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
