// SPDX-License-Identifier: MIT
// Distributed indices name each of a thread's elements once, by its place in the tile.
#include "../../core/distribution/naive_distribution.hpp"

#include <tilewright/compat/ck_tile/distributed_span.hpp>

#include <gtest/gtest.h>

#include <set>

namespace tilewright {
namespace {

// Rows {2 held, 2 lanes, 2 held}, columns {2 waves, 4 held}; the list of y is turned round.
// 3 replicas of the tile in each wave.
using type = tile_distribution_encoding<sequence<3>, tuple<sequence<2, 2, 2>, sequence<2, 4>>,
                                        tuple<sequence<2>, sequence<0, 1>>, tuple<sequence<0>, sequence<0, 1>>,
                                        sequence<2, 1, 1>, sequence<1, 2, 0>>;
constexpr auto distribution = make_static_tile_distribution(type{});

TEST(DistributedSpan, HasTheHeldFactorsOfEachDimension) {
  constexpr auto spans = get_distributed_spans(distribution);
  static_assert(spans.size() == 2 && spans[0].size() == 2 && spans[1].size() == 1);
  static_assert(spans[0][0] == 2 && spans[0][1] == 2 && spans[1][0] == 4);
}

TEST(DistributedSpan, IndicesVisitEveryRegisterAndItsPosition) {
  std::set<index_t> seen;
  naive::each_index({2, 2, 4}, [&](const naive::indices& i) {
    array<detail::distributed_index, 2> indices{};
    indices[0].push_back(i[0]);
    indices[0].push_back(i[1]);
    indices[1].push_back(i[2]);
    const auto y = get_y_indices_from_distributed_indices(distribution, indices);
    EXPECT_EQ(y, (multi_index<3>{{i[2], i[1], i[0]}}));
    seen.insert(distribution.y_to_register(y));
    const auto x = get_x_indices_from_distributed_indices(distribution, indices, {{1, 5}});
    EXPECT_EQ(x, (multi_index<2>{{i[0] * 4 + 1 * 2 + i[1], 1 * 4 + i[2]}}));
  });
  EXPECT_EQ(seen.size(), 16u);
}

// As many dimensions, factors and indices as an encoding holds; waves and lanes replicate. At compile time,
// where nothing beyond may be read.
TEST(DistributedSpan, OfAFullEncoding) {
  using six = sequence<2, 1, 2, 1, 2, 1>;
  constexpr auto full = make_static_tile_distribution(
      tile_distribution_encoding<six, tuple<six, six, six, sequence<2>>,
                                 tuple<sequence<0, 1, 0, 0, 1, 1>, sequence<0, 1, 0, 0, 1, 1>>,
                                 tuple<sequence<0, 0, 1, 2, 1, 2>, sequence<3, 3, 4, 5, 4, 5>>,
                                 sequence<2, 2, 2, 3, 3, 3, 3, 4>, sequence<0, 2, 4, 0, 1, 2, 4, 0>>{});
  constexpr auto spans = get_distributed_spans(full);
  static_assert(spans[0].size() == 0 && spans[1].size() == 3 && spans[2].size() == 4 && spans[3].size() == 1);
  constexpr array<detail::distributed_index, 4> last = [&] {
    array<detail::distributed_index, 4> indices = spans;
    for (detail::distributed_index& of_one : indices) {
      for (index_t& i : of_one) --i;
    }
    return indices;
  }();
  static_assert(get_x_indices_from_distributed_indices(full, last, {{0, 0}}) == multi_index<4>{{0, 7, 7, 1}});
  static_assert(get_x_indices_from_distributed_indices(full, last, {{7, 1}}) == multi_index<4>{{7, 7, 7, 1}});
  static_assert(calculate_rs_index_from_ps_index(full, {{0, 0}}) == multi_index<6>{});
  static_assert(calculate_rs_index_from_ps_index(full, {{2, 0}}) == multi_index<6>{{0, 0, 1, 0, 0, 0}});
  static_assert(calculate_rs_index_from_ps_index(full, {{8, 0}}) == multi_index<6>{{1, 0, 0, 0, 0, 0}});
  static_assert(calculate_rs_index_from_ps_index(full, {{0, 2}}) == multi_index<6>{{0, 0, 0, 0, 1, 0}});
}

TEST(DistributedSpan, ReplicasAreNumbered) {
  static_assert(calculate_rs_index_from_ps_index(distribution, {{1, 5}}) == multi_index<1>{{2}});
  for (index_t lane = 0; lane < 6; ++lane)
    EXPECT_EQ(calculate_rs_index_from_ps_index(distribution, {{0, lane}}), (multi_index<1>{{lane / 2}}));
}

}  // namespace
}  // namespace tilewright
