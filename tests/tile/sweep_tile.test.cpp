// SPDX-License-Identifier: MIT
// Sweeps and elementwise functions in constant expressions.
#include <tilewright/tile/sweep_tile.hpp>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

/// A thread holds 2 (factor 0 of dimension 0) x 3 (factor 1 of dimension 1) x 2 (factor 2 of dimension 0).
using distribution = tile_distribution<
    tile_distribution_encoding<sequence<>, tuple<sequence<2, 4, 2>, sequence<2, 3>>, tuple<sequence<1, 2>>,
                               tuple<sequence<1, 0>>, sequence<1, 2, 1>, sequence<0, 1, 2>>::value>;
using tile_type = static_distributed_tensor<int, distribution>;

constexpr tile_type numbered() {
  tile_type tile{};
  for (index_t d = 0; d < 12; ++d) tile.thread_buffer[d] = d;
  return tile;
}

TEST(SweepTile, VisitsTheRegistersInOrder) {
  constexpr auto visited = [] {
    tile_type tile = numbered(), other{};
    array<int, 12> order{};
    int n = 0;
    sweep_tile(tile, [&](auto i) { order[n++] = tile[i]; });
    sweep_tile(tile, [](auto, int& element) { element *= 2; });
    sweep_tile<tile_type>([&](auto i) { other(i) = tile[i] + 1; });
    for (index_t d = 0; d < 12; ++d) order[d] = order[d] == d && other.thread_buffer[d] == 2 * d + 1;
    return order;
  }();
  for (const int right : visited) EXPECT_EQ(right, 1);
}

TEST(SweepTile, UnpacksNeighbours) {
  constexpr int packed = [] {
    const tile_type tile = numbered();
    int sum = 0, calls = 0;
    // Neighbours along the last y are one register apart, along the first one 6.
    sweep_tile(
        tile,
        [&](auto a, auto b, auto c, auto d) {
          ++calls;
          sum += 1000 * (tile[b] - tile[a]) + 10 * (tile[c] - tile[a]) + (tile[d] - tile[c]);
        },
        sequence<2, 1, 2>{});
    return sum * 10 + calls;
  }();
  EXPECT_EQ(packed, (3 * 1000 + 3 * 60 + 3 * 1) * 10 + 3);
}

TEST(SweepTile, InStepsOfTheCaller) {
  constexpr int seen = [] {
    tile_type tile = numbered();
    int last = -1;
    tile_sweeper sweeper(tile, [&](auto i) { last = tile[i]; });
    static_assert(decltype(sweeper)::get_num_of_access() == 12);
    sweeper(number<7>{});
    return last;
  }();
  EXPECT_EQ(seen, 7);
}

TEST(SweepTileSpan, GoesThroughEachDimension) {
  constexpr auto result = [] {
    const tile_type tile = numbered();
    array<int, 3> found{};
    sweep_tile_span<0>(tile, [&](auto i) {
      ++found[0];
      sweep_tile_span<1>(tile, [&](auto j) {
        ++found[1];
        found[2] = found[2] * 7 % 10007 + tile[make_tuple(i, j)];
      });
    });
    return found;
  }();
  EXPECT_EQ(result[0], 4);
  EXPECT_EQ(result[1], 12);
  int expected = 0;  // dimension 0 has y0 and y2, dimension 1 has y1
  for (int y0 = 0; y0 < 2; ++y0) {
    for (int y2 = 0; y2 < 2; ++y2) {
      for (int y1 = 0; y1 < 3; ++y1) expected = expected * 7 % 10007 + (y0 * 6 + y1 * 2 + y2);
    }
  }
  EXPECT_EQ(result[2], expected);
}

TEST(SweepTileUspan, PassesNeighboursTogether) {
  constexpr auto result = [] {
    const tile_type tile = numbered();
    array<int, 2> found{};
    // The span of dimension 0 has two digits of 2 (y0, y2): pairs along the second one.
    sweep_tile_uspan<0>(
        tile,
        [&](auto first, auto second) {
          ++found[0];
          using column = tile_distributed_index<1>;
          found[1] = found[1] * 100 + tile[make_tuple(first, column{})] * 10 + tile[make_tuple(second, column{})] -
                     tile[make_tuple(first, column{})];
        },
        sequence<1, 2>{});
    return found;
  }();
  EXPECT_EQ(result[0], 2);
  // y1 = 1: registers 2 and 3, then 8 and 9; neighbours are one apart.
  EXPECT_EQ(result[1], (2 * 10 + 1) * 100 + 8 * 10 + 1);
}

TEST(GetXIndices, AddTheThreadsPosition) {
  // Lane 5 is (2, 1) of 4 x 2: position (4, 3); the element at y = (1, 2, 1) is (9, 2) further on.
  using index = tuple<tile_distributed_index<1, 1>, tile_distributed_index<2>>;
  constexpr auto x = get_x_indices_from_distributed_indices(distribution{}, index{}, {{5}});
  static_assert(x == multi_index<2>{{4 + 9, 3 + 2}});
}

TEST(TileElementwise, TakesSeveralTiles) {
  constexpr auto result = [] {
    tile_type a = numbered(), b = numbered();
    tile_elementwise_inout([](int& x, int& y) { y = x++; }, a, b);
    return tile_elementwise_in([](int x, int y) { return float(x) / 2 + float(y); }, a, b);
  }();
  for (int d = 0; d < 12; ++d) EXPECT_EQ(result.thread_buffer[d], float(d + 1) / 2 + float(d));
}

TEST(SetTileIf, AsksForThePosition) {
  constexpr auto result = [] {
    tile_type tile = numbered();
    set_tile_if(tile, -1, [](const multi_index<2>& x) { return x[0] > 12; }, {{5}});
    return tile;
  }();
  for (int d = 0; d < 12; ++d) EXPECT_EQ(result.thread_buffer[d], 4 + d / 6 * 8 + d % 2 > 12 ? -1 : d);
}

TEST(CastTile, RoundsAndSaturates) {
  using odd = tile_distribution<tile_distribution_encoding<sequence<>, tuple<sequence<8, 3>>, tuple<sequence<1>>,
                                                           tuple<sequence<0>>, sequence<1>, sequence<1>>::value>;
  constexpr auto check = [](auto distribution) {
    static_distributed_tensor<float, decltype(distribution)> tile{};
    for (index_t d = 0; d < tile.size(); ++d) tile.thread_buffer[d] = float(d) * 100.3f - 200;
    const auto fp8 = cast_tile<bf8_fnuz_t>(tile);
    const auto bytes = cast_tile<int8_t>(tile);
    for (index_t d = 0; d < tile.size(); ++d) {
      if (fp8.thread_buffer[d].bits != fp8_bits_from_float<fp8_format::e5m2_fnuz>(tile.thread_buffer[d])) return false;
      if (bytes.thread_buffer[d] != int8_from_float(tile.thread_buffer[d])) return false;
    }
    return true;
  };
  static_assert(check(distribution{}) && check(odd{}));
}

}  // namespace
}  // namespace tilewright
