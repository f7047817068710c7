// SPDX-License-Identifier: MIT
// Distributions as kernels use them, against the definition; every element is held as often as it should be.
#include "copies.hpp"
#include "naive_distribution.hpp"

#include <tilewright/core/arch/arch.hpp>
#include <tilewright/core/distribution/lane_map_encoding.hpp>
#include <tilewright/core/distribution/tile_distribution.hpp>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

using naive::indices;

template <index_t N>
indices list(const multi_index<N>& index) {
  return indices(index.begin(), index.end());
}
template <index_t N>
multi_index<N> index_of(const indices& values) {
  multi_index<N> index{};
  for (index_t i = 0; i < N; ++i) index[i] = values[std::size_t(i)];
  return index;
}

template <distribution_encoding E>
void expect_definition(const char* name) {
  using distribution = tile_distribution<E>;
  SCOPED_TRACE(name);
  EXPECT_EQ(naive::ownership_fault(E), "");
  EXPECT_EQ(list(distribution::y_lengths), naive::y_lengths(E));
  EXPECT_EQ(list(distribution::get_y_lengths()), naive::y_lengths(E));
  EXPECT_EQ(distribution::get_lengths(), distribution::x_lengths);
  index_t threads = 1, registers = 0;
  for (const index_t n : naive::partition_lengths(E)) threads *= n;
  EXPECT_EQ(distribution::num_threads(), threads);
  naive::each_index(naive::y_lengths(E), [&](const indices& y) {
    const auto yi = index_of<distribution::ndim_y>(y);
    EXPECT_EQ(distribution::y_to_register(yi), registers++) << "row-major";
    index_t by_strides = 0;
    for (index_t i = 0; i < distribution::ndim_y; ++i) by_strides += yi[i] * distribution::calculate_y_strides()[i];
    EXPECT_EQ(distribution::y_to_register(yi), by_strides);
    naive::each_index(naive::partition_lengths(E), [&](const indices& p) {
      auto x = distribution::calculate_index(index_of<distribution::ndim_p>(p));
      for (index_t d = 0; d < distribution::ndim_x; ++d) x[d] += distribution::y_to_x(yi)[d];
      ASSERT_EQ(list(x), naive::position(E, p, y));
    });
  });
  EXPECT_EQ(registers, distribution::num_elements);
  EXPECT_EQ(registers, distribution::get_num_of_element_y());
}

TEST(TileDistribution, OfCopies) {
  expect_definition<copies::along_rows(128, 32, 4, 64, 8)>("128 x 32 by 4 waves of 64, along k");
  expect_definition<copies::along_columns(128, 32, 4, 64, 8)>("128 x 32 by 4 waves of 64, along rows");
  expect_definition<copies::along_rows(32, 64, 2, 32, 8)>("32 x 64 by 2 waves of 32, along k");
  expect_definition<copies::along_columns(64, 32, 2, 32, 4)>("64 x 32 by 2 waves of 32, along rows");
}

TEST(TileDistribution, WithReplicationAndThreeDimensions) {
  expect_definition<tile_distribution_encoding<
      sequence<3, 2>, tuple<sequence<2, 4>, sequence<3>, sequence<4, 2>>, tuple<sequence<0, 1>, sequence<3, 0, 2>>,
      tuple<sequence<0, 0>, sequence<0, 1, 0>>, sequence<3, 1>, sequence<1, 1>>::value>("three dimensions");
}

TEST(TileDistribution, OfOneThread) {
  expect_definition<tile_distribution_encoding<sequence<>, tuple<sequence<4>, sequence<2>>, tuple<sequence<>>,
                                               tuple<sequence<>>, sequence<2, 1>, sequence<0, 0>>::value>(
      "all in one thread, columns first");
}

TEST(TileDistribution, OfMatrixOperands) {
  expect_definition<encoding_of(arch::describe(arch::matrix_op::mfma_32x32x8).c)>("C of 32 x 32");
  expect_definition<encoding_of(arch::describe(arch::matrix_op::wmma_16x16x16_gfx11).a)>("A of gfx11: lanes replicate");
  expect_definition<encoding_of(arch::describe(arch::matrix_op::mma_m16n8k16_x2).b)>("B of mma");
}

TEST(TileDistribution, IsMadeFromAnEncodingType) {
  using encoding = tile_distribution_encoding<sequence<>, tuple<sequence<8>>, tuple<sequence<1>>, tuple<sequence<0>>,
                                              sequence<>, sequence<>>;
  constexpr auto made = make_static_tile_distribution(encoding{});
  static_assert(TileDistribution<std::remove_cv_t<decltype(made)>> && !TileDistribution<int>);
  static_assert(made.ndim_y == 0 && made.num_elements == 1);
  static_assert(made.calculate_index({5}) == (multi_index<1>{{5}}));
}

}  // namespace
}  // namespace tilewright
