// SPDX-License-Identifier: MIT
// Reduction of a tile: who holds the result, and what the threads have in common afterwards.
#include "naive_distribution.hpp"

#include <tilewright/core/distribution/reduce_encoding.hpp>
#include <tilewright/core/distribution/tile_distribution.hpp>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

using naive::indices;

// 4 waves of 64 share 128 x 32; a thread holds 2 x 8. The documented A copy of a GEMM.
using copy = tile_distribution_encoding<sequence<1>, tuple<sequence<2, 4, 16>, sequence<4, 8>>,
                                        tuple<sequence<1>, sequence<1, 2>>, tuple<sequence<1>, sequence<2, 0>>,
                                        sequence<1, 2>, sequence<0, 1>>;

TEST(ReduceEncoding, ColumnsGoAndTheirLanesReplicate) {
  constexpr distribution_encoding rows = reduce(copy::value, multi_index<1>{{1}});
  static_assert(check_encoding(rows).is_sound());
  static_assert(rows.ndim_x() == 1 && rows.x_length(0) == 128 && rows.ndim_y() == 1 &&
                rows.num_elements_per_thread() == 2);
  static_assert(rows.r.size() == 2 && rows.r[0] == 1 && rows.r[1] == 4, "the four lanes along k");
  static_assert(rows.p[1][0] == rh_id{1, 2} && rows.p[1][1] == rh_id{0, 1});
  EXPECT_EQ(naive::ownership_fault(rows), "");
  naive::each_index({4, 64, 2}, [&](const indices& i) {
    EXPECT_EQ(naive::position(rows, {i[0], i[1]}, {i[2]})[0], naive::position(copy::value, {i[0], i[1]}, {i[2], 0})[0]);
  });
}

TEST(ReduceEncoding, RowsGo) {
  constexpr distribution_encoding columns = reduce(copy::value, multi_index<1>{{0}});
  static_assert(columns.r[1] == 4 && columns.r[2] == 16 && columns.p[0][0] == rh_id{0, 1}, "waves, then lanes");
  static_assert(columns.x_length(0) == 32 && columns.num_elements_per_thread() == 8);
  EXPECT_EQ(naive::ownership_fault(columns), "");
}

TEST(ReduceEncoding, NothingIsLeftButReplication) {
  constexpr distribution_encoding all = reduce(copy::value, multi_index<2>{{1, 0}});
  static_assert(all.ndim_x() == 0 && all.ndim_y() == 0 && all.p_length(0) == 4 && all.p_length(1) == 64);
  static_assert(all == reduce(copy::value, multi_index<2>{{0, 1}}));
}

TEST(ReduceEncoding, HasCkTilesSpelling) {
  constexpr auto distribution =
      make_static_tile_distribution(make_reduce_tile_distribution_encoding(copy{}, sequence<1>{}));
  static_assert(distribution.encoding == reduce(copy::value, multi_index<1>{{1}}));
}

TEST(ReduceEncoding, SaysWhatIsWrong) {
  EXPECT_EQ(check_reduce(copy::value, multi_index<1>{{1}}), detail::reduce_fault::none);
  EXPECT_EQ(check_reduce(copy::value, multi_index<1>{{2}}), detail::reduce_fault::no_such_dimension);
  EXPECT_EQ(check_reduce(copy::value, multi_index<1>{{-1}}), detail::reduce_fault::no_such_dimension);
  EXPECT_EQ(check_reduce(copy::value, multi_index<2>{{1, 1}}), detail::reduce_fault::listed_twice);
  distribution_encoding e = copy::value;
  for (index_t i = 0; i < 4; ++i) e.r.push_back(2);
  EXPECT_EQ(check_reduce(e, multi_index<1>{{1}}), detail::reduce_fault::none) << "five factors and the lanes along k";
  EXPECT_EQ(check_reduce(e, multi_index<1>{{0}}), detail::reduce_fault::too_many_factors);
}

}  // namespace
}  // namespace tilewright
