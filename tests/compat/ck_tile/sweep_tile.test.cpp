// SPDX-License-Identifier: MIT
// Sweeps and elementwise functions in constant expressions.
#include <tilewright/compat/ck_tile/sweep_tile.hpp>

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
    sweep_tile(tile, [&](auto i) { other(i) = tile[i] + 1; });
    for (index_t d = 0; d < 12; ++d) order[d] = order[d] == d && other.thread_buffer[d] == 2 * d + 1;
    return order;
  }();
  for (const int right : visited) EXPECT_EQ(right, 1);
}

/// The parts of an index go with tiles of fewer dimensions.
TEST(SweepTile, GivesIndicesWithParts) {
  constexpr int sums = [] {
    const tile_type tile = numbered();
    static_distributed_tensor<int, tile_distribution<reduce(distribution::encoding, array<index_t, 1>{0})>> columns{};
    sweep_tile(tile, [&](auto i) { columns(make_tuple(i[number<1>{}])) += tile[make_tuple(get<0>(i), get<1>(i))]; });
    return columns.thread_buffer[0] * 10000 + columns.thread_buffer[1] * 100 + columns.thread_buffer[2];
  }();
  EXPECT_EQ(sums, (0 + 1 + 6 + 7) * 10000 + (2 + 3 + 8 + 9) * 100 + (4 + 5 + 10 + 11));
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

/// Without a factor of its own in Y a dimension has one index.
TEST(SweepTileSpan, GoesOnceThroughADimensionThatAThreadHoldsOneOf) {
  using column = tile_distribution<
      tile_distribution_encoding<sequence<>, tuple<sequence<4>, sequence<16, 3>>, tuple<sequence<1, 2>>,
                                 tuple<sequence<0, 0>>, sequence<2>, sequence<1>>::value>;
  constexpr int sum = [] {
    static_distributed_tensor<int, column> tile{{1, 20, 300}};
    int result = 0;
    sweep_tile_span<0>(tile,
                       [&](auto i) { sweep_tile_span<1>(tile, [&](auto j) { result += tile[make_tuple(i, j)]; }); });
    return result;
  }();
  EXPECT_EQ(sum, 321);
}

TEST(GetXIndices, AddTheThreadsPosition) {
  // Lane 5 is (2, 1) of 4 x 2: position (4, 3); the element at y = (1, 2, 1) is (9, 2) further on.
  using index = tuple<detail::tile_distributed_index<1, 1>, detail::tile_distributed_index<2>>;
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

/// Rows and columns of a tile whose registers are in no order, by value and in place.
TEST(TileElementwise, RepeatsTilesAlongDimensions) {
  using rows = tile_distribution<reduce(distribution::encoding, array<index_t, 1>{1})>;
  using columns = tile_distribution<reduce(distribution::encoding, array<index_t, 1>{0})>;
  constexpr auto result = [] {
    tile_type tile{};
    static_distributed_tensor<int, rows> row{{1, 2, 3, 4}};
    const static_distributed_tensor<int, columns> column{{10, 20, 30}};
    tile_elementwise_inout([](int& x, int& r, int c) { x = r++ + c; }, tile, along<0>(row), along<1>(column));
    return tile_elementwise_in([](int x, int r, int same) { return float(x * 10000 + r * 100 + same); }, tile,
                               along<0>(row), along<0, 1>(tile));
  }();
  // Register d is y = (d / 6, d / 2 % 3, d % 2); y 0 and y 2 are rows, y 1 columns. Each row is met three times.
  for (int d = 0; d < 12; ++d) {
    const int row = d / 6 * 2 + d % 2, column = d / 2 % 3, sum = row + 1 + column + (column + 1) * 10;
    EXPECT_EQ(result.thread_buffer[d], float(sum * 10000 + (row + 4) * 100 + sum)) << d;
  }
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
      if (fp8.thread_buffer[d].bits !=
          detail::fp8_bits_from_float<detail::fp8_format::e5m2_fnuz>(tile.thread_buffer[d]))
        return false;
      if (bytes.thread_buffer[d] != detail::int8_from_float(tile.thread_buffer[d])) return false;
    }
    return true;
  };
  static_assert(check(distribution{}) && check(odd{}));
}

}  // namespace
}  // namespace tilewright
