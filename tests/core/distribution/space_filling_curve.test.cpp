// SPDX-License-Identifier: MIT
// Curves: the documented examples, in CK Tile's spelling.
#include <tilewright/core/distribution/space_filling_curve.hpp>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

using row_major = space_filling_curve<2, sequence<4, 6>, sequence<0, 1>, sequence<1, 1>, false>;
using column_major = space_filling_curve<2, sequence<4, 6>, sequence<1, 0>, sequence<1, 1>, false>;

constexpr multi_index<2> at(index_t row, index_t col) { return {{row, col}}; }

TEST(SpaceFillingCurve, RowMajorAndColumnMajor) {
  static_assert(row_major::get_num_of_access() == 24);
  for (index_t i = 0; i < 24; ++i) {
    EXPECT_EQ(row_major::get_index(i), at(i / 6, i % 6));
    EXPECT_EQ(column_major::get_index(i), at(i % 4, i / 4));
  }
}

TEST(SpaceFillingCurve, TakesIndicesOfRunTimeAndOfCompileTime) {
  unroll<row_major::get_num_of_access()>([](auto i) {
    constexpr auto index = row_major{}.get_index(i);
    const index_t run_time = i;
    EXPECT_EQ(row_major{}.get_index(run_time), index);
  });
  static_assert(row_major{}.get_index(number<7>{}) == at(1, 1));
}

TEST(SpaceFillingCurve, StepsOfCompileTime) {
  static_assert(row_major::get_forward_step(number<5>{}) == at(1, -5));
  static_assert(row_major::get_backward_step(number<23>{}) == at(0, -1));
  static_assert(row_major::get_forward_step(number<22>{}) == at(0, 1), "to the last");
  static_assert(row_major::get_backward_step(number<1>{}) == at(0, -1), "to the first");
  static_assert(row_major::get_step_between(number<23>{}, number<0>{}) == at(-3, -5));
}

TEST(SpaceFillingCurve, SnakesOnlyWhenAsked) {
  static_assert(!space_filling_curve<2, sequence<4, 6>, sequence<0, 1>, sequence<1, 1>>::snake_curved,
                "off by default");
  static_assert(!curve<2>{at(4, 6), at(0, 1), at(1, 1)}.snake);
}

TEST(SpaceFillingCurve, VectorsOfFour) {
  using vectorized = space_filling_curve<2, sequence<4, 8>, sequence<0, 1>, sequence<1, 4>, false>;
  static_assert(vectorized::get_num_of_access() == 8);
  static_assert(vectorized::access_lengths == at(4, 2));
  for (index_t i = 0; i < 8; ++i) EXPECT_EQ(vectorized::get_index(i), at(i / 2, i % 2 * 4));
}

TEST(SpaceFillingCurve, ADimensionMayBeOneLong) {
  using line = space_filling_curve<2, sequence<1, 6>, sequence<0, 1>, sequence<1, 2>, true>;
  static_assert(line::get_num_of_access() == 3 && line::get_index(2) == at(0, 4));
}

TEST(SpaceFillingCurve, SnakeRunsBackwardsInOddRows) {
  using snake = space_filling_curve<2, sequence<4, 8>, sequence<0, 1>, sequence<1, 1>, true>;
  for (index_t i = 0; i < 32; ++i) EXPECT_EQ(snake::get_index(i), at(i / 8, i / 8 % 2 == 0 ? i % 8 : 7 - i % 8));
}

TEST(SpaceFillingCurve, SnakeOfThreeDimensionsMovesOneStepAtATime) {
  using snake = space_filling_curve<3, sequence<3, 4, 6>, sequence<2, 0, 1>, sequence<1, 2, 2>, true>;
  for (index_t i = 0; i + 1 < snake::get_num_of_access(); ++i) {
    index_t moved = 0;
    for (index_t d = 0; d < 3; ++d) moved += snake::get_forward_step(i)[d] != 0;
    EXPECT_EQ(moved, 1) << i;
  }
}

TEST(SpaceFillingCurve, GemmTileDownTheColumns) {
  using gemm_tile = space_filling_curve<2, sequence<16, 32>, sequence<1, 0>, sequence<1, 8>, false>;
  static_assert(gemm_tile::get_num_of_access() == 64);
  for (index_t i = 0; i < 64; ++i) EXPECT_EQ(gemm_tile::get_index(i), at(i % 16, i / 16 * 8));
}

TEST(SpaceFillingCurve, ThreeDimensionsWithVectorsInTwo) {
  using tensor = space_filling_curve<3, sequence<4, 8, 16>, sequence<0, 1, 2>, sequence<1, 2, 4>, false>;
  static_assert(tensor::get_num_of_access() == 64);
  for (index_t i = 0; i < 64; ++i)
    EXPECT_EQ(tensor::get_index(i), (multi_index<3>{{i / 16, i / 4 % 4 * 2, i % 4 * 4}}));
}

TEST(SpaceFillingCurve, AccessesThatOverhangAreReported) {
  using edge = space_filling_curve<2, sequence<5, 7>, sequence<0, 1>, sequence<2, 3>, false>;
  static_assert(edge::access_lengths[0] == 3 && edge::access_lengths[1] == 3 && edge::get_num_of_access() == 9);
  for (index_t i = 0; i < 9; ++i) EXPECT_EQ(edge::is_in_bounds(i), i / 3 < 2 && i % 3 < 2) << i;
}

TEST(SpaceFillingCurve, StepsBetweenAccesses) {
  static_assert(row_major::get_step_between(5, 6) == at(1, -5));
  static_assert(row_major::get_forward_step(0) == at(0, 1) && row_major::get_backward_step(6) == at(-1, 5));
  static_assert(row_major::get_step_between(3, 3) == at(0, 0) && row_major::get_step_between(23, 0) == at(-3, -5));
  // Steps of the row-major 4 x 6 traversal: 20 to the next element, 3 back to the next row's begin.
  index_t sequential = 0, jumps = 0;
  for (index_t i = 0; i + 1 < row_major::get_num_of_access(); ++i) {
    const auto step = row_major::get_forward_step(i);
    (step == at(0, 1) ? sequential : jumps) += 1;
  }
  EXPECT_EQ(sequential, 20);
  EXPECT_EQ(jumps, 3);
}

TEST(SpaceFillingCurve, ListsItsParameters) {
  static_assert(row_major::ndim == 2 && row_major::tensor_lengths == at(4, 6) &&
                row_major::scalars_per_access == at(1, 1));
  static_assert(column_major::dim_access_order == at(1, 0));
  static_assert(row_major::traversal == curve<2>{at(4, 6), at(0, 1), at(1, 1), false});
}

}  // namespace
}  // namespace tilewright
