// SPDX-License-Identifier: MIT
// Second vector dimensions, widths for given memory, and the documented curve optimiser.
#include "../../core/distribution/documented_tiles.hpp"

#include <tilewright/compat/ck_tile/load_store_traits.hpp>
#include <tilewright/core/base/types.hpp>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

using documented::tile;

TEST(MultiLevelVectorization, OfTheDocumentedTiles) {
  using rows = multi_level_vectorization<documented::row_major_4x16>;
  static_assert(rows::primary_vector_dim == 1 && rows::secondary_vector_dim == 0 && rows::supports_2d_vector);
  using columns = multi_level_vectorization<documented::column_major_16x4>;
  static_assert(columns::primary_vector_dim == 1 && columns::secondary_vector_dim == 0 && columns::supports_2d_vector);
  static_assert(multi_level_vectorization<documented::optimized_vector>::secondary_vector_dim == 0);
}

TEST(MultiLevelVectorization, NeedsNeighboursInBothDimensions) {
  using one_row = multi_level_vectorization<tile<4, 1, 2, 8>>;
  static_assert(one_row::secondary_vector_dim == -1 && !one_row::supports_2d_vector);
  // Rows that a thread holds with other threads' rows between them.
  using apart = decltype(make_static_tile_distribution(
      tile_distribution_encoding<sequence<>, tuple<sequence<2, 4>, sequence<4, 4>>, tuple<sequence<1>, sequence<2>>,
                                 tuple<sequence<1>, sequence<0>>, sequence<1, 2>, sequence<0, 1>>{}));
  static_assert(multi_level_vectorization<apart>::secondary_vector_dim == -1);
  // Two factors of one dimension are no second dimension.
  using split = decltype(make_static_tile_distribution(
      tile_distribution_encoding<sequence<>, tuple<sequence<8>, sequence<2, 4>>, tuple<sequence<1>>, tuple<sequence<0>>,
                                 sequence<2, 2>, sequence<0, 1>>{}));
  static_assert(multi_level_vectorization<split>::secondary_vector_dim == -1);
  // Not even where the first is no vector.
  using thirds = decltype(make_static_tile_distribution(
      tile_distribution_encoding<sequence<>, tuple<sequence<8>, sequence<2, 3>>, tuple<sequence<1>>, tuple<sequence<0>>,
                                 sequence<2, 2>, sequence<1, 0>>{}));
  static_assert(multi_level_vectorization<thirds>::primary_vector_dim == 1 &&
                multi_level_vectorization<thirds>::secondary_vector_dim == -1);
}

TEST(MultiLevelVectorization, WithoutAFirstVectorThereIsNoBlock) {
  using column = multi_level_vectorization<tile<2, 4, 8, 1>>;
  static_assert(!column::supports_2d_vector, "neighbours along a column only");
}

TEST(MultiLevelVectorization, TakesTheLongestSecondDimension) {
  using cube = decltype(make_static_tile_distribution(
      tile_distribution_encoding<sequence<>, tuple<sequence<2>, sequence<4>, sequence<4>, sequence<4>>, tuple<>,
                                 tuple<>, sequence<1, 2, 3, 4>, sequence<0, 0, 0, 0>>{}));
  static_assert(multi_level_vectorization<cube>::primary_vector_dim == 3);
  static_assert(multi_level_vectorization<cube>::secondary_vector_dim == 1, "the first of equals");
  using replicated = decltype(make_static_tile_distribution(
      tile_distribution_encoding<sequence<2>, tuple<sequence<4>, sequence<8>>, tuple<sequence<0>>, tuple<sequence<0>>,
                                 sequence<1, 2>, sequence<0, 0>>{}));
  static_assert(detail::find_secondary_vector_dim(replicated::encoding, 1) == 0,
                "what replicates is no dimension of y");
  using longest_first = decltype(make_static_tile_distribution(
      tile_distribution_encoding<sequence<>, tuple<sequence<4>, sequence<2>, sequence<4>>, tuple<>, tuple<>,
                                 sequence<1, 2, 3>, sequence<0, 0, 0>>{}));
  static_assert(detail::find_secondary_vector_dim(longest_first::encoding, 2) == 0);
}

TEST(AdaptiveVectorSize, OfTheDistribution) {
  static_assert(adaptive_vector_size<documented::optimized_vector, float>::calculate_optimal_vector_size() == 4);
  static_assert(adaptive_vector_size<documented::optimized_vector, half_t>::calculate_optimal_vector_size() == 8);
  static_assert(adaptive_vector_size<documented::optimized_vector, double>::calculate_optimal_vector_size() == 2);
  static_assert(adaptive_vector_size<tile<2, 1, 2, 6>, half_t>::calculate_optimal_vector_size() == 2);
}

// Brute force: the largest power of two at whose multiples all rows and the pointer are aligned.
TEST(AdaptiveVectorSize, OfMemoryKnownAtRunTime) {
  using size = adaptive_vector_size<documented::optimized_vector, half_t>;
  for (index_t row = 1; row <= 40; ++row) {
    for (const index_t alignment : {1, 2, 4, 6, 8, 16, 24, 32, 256}) {
      index_t expected = 1;
      for (const index_t n : {2, 4, 8}) {
        if (row % n == 0 && alignment % (n * 2) == 0) expected = n;
      }
      EXPECT_EQ(size::calculate_optimal_vector_size(row, alignment), expected) << row << ", " << alignment;
    }
  }
}

TEST(SpaceFillingCurveOptimizer, MovesTheVectorFastest) {
  using turned = decltype(make_static_tile_distribution(
      tile_distribution_encoding<sequence<>, tuple<sequence<2, 2>, sequence<4, 8>>, tuple<sequence<1>, sequence<2>>,
                                 tuple<sequence<0>, sequence<0>>, sequence<2, 1>, sequence<1, 1>>{}));
  constexpr curve<2> walk = space_filling_curve_optimizer<turned>::create_optimized_curve();
  static_assert(walk == curve<2>{{{8, 2}}, {{1, 0}}, {{4, 1}}, true});
  constexpr multi_index<2> expected[] = {{{0, 0}}, {{4, 0}}, {{4, 1}}, {{0, 1}}};
  for (index_t i = 0; i < walk.get_num_of_access(); ++i) EXPECT_EQ(walk.get_index(i), expected[i]);
}

TEST(SpaceFillingCurveOptimizer, LeavesTheDocumentedTilesAsTheyAre) {
  static_assert(space_filling_curve_optimizer<documented::tile_6x8>::create_optimized_curve() ==
                load_store_traits<documented::tile_6x8, float>::sfc_ys);
}

}  // namespace
}  // namespace tilewright
