// SPDX-License-Identifier: MIT
// The documented examples.
#include "../../core/distribution/documented_tiles.hpp"

#include <tilewright/compat/ck_tile/functional.hpp>
#include <tilewright/compat/ck_tile/load_store_traits.hpp>
#include <tilewright/core/base/types.hpp>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

using documented::tile;

TEST(LoadStoreTraits, RowMajor4x16VectorisesBy4) {
  using traits = load_store_traits<documented::row_major_4x16, float>;
  static_assert(traits::ndim_x == 2 && traits::ndim_y == 2);
  static_assert(traits::vector_dim_y == 1 && traits::scalar_per_vector == 4 && traits::scalars_per_access == 4 &&
                traits::num_access == 2);
}

TEST(LoadStoreTraits, ColumnMajor16x4VectorisesBy2) {
  using traits = load_store_traits<documented::column_major_16x4, float>;
  static_assert(traits::vector_dim_y == 1 && traits::scalar_per_vector == 2 && traits::num_access == 4);
}

TEST(LoadStoreTraits, AccessesOf6x8) {
  using traits = load_store_traits<documented::tile_6x8, float>;
  static_assert(traits::num_access == 3);
  for (index_t i = 0; i < 3; ++i) {
    EXPECT_EQ(traits::get_y_indices(i), (multi_index<2>{{i, 0}}));
    const auto info = traits::get_vectorized_access_info(i);
    EXPECT_EQ(info.base_indices, traits::get_y_indices(i));
    EXPECT_EQ(info.vector_dim, 1);
    EXPECT_EQ(info.vector_size, 4);
  }
}

// One access is at most 16 bytes: a quarter of a cache line of 64, whatever a thread holds.
TEST(LoadStoreTraits, NoAccessIsWiderThan16Bytes) {
  static_assert(load_store_traits<documented::simple_8x8, float>::scalar_per_vector == 4);
  using wide = load_store_traits<documented::optimized_vector, float>;
  static_assert(wide::scalar_per_vector * sizeof(float) * 100 / 64 == 25);
  static_assert(load_store_traits<tile<4, 2, 2, 8>, half_t>::scalar_per_vector == 8);
  static_assert(load_store_traits<tile<4, 2, 2, 32>, half_t>::scalar_per_vector == 8);
  static_assert(load_store_traits<tile<4, 2, 2, 32>, char>::scalar_per_vector == 16);
  static_assert(load_store_traits<tile<4, 2, 2, 8>, double>::scalar_per_vector == 2);
}

TEST(LoadStoreTraits, AccessesSnake) {
  using traits = load_store_traits<documented::optimized_vector, float>;
  static_assert(traits::num_access == 4);
  const multi_index<2> expected[] = {{{0, 0}}, {{0, 4}}, {{1, 4}}, {{1, 0}}};
  for (index_t i = 0; i < 4; ++i) EXPECT_EQ(traits::get_y_indices(i), expected[i]);
  static_assert(traits::sfc_ys.snake);
}

TEST(LoadStoreTraits, VectorsArePowersOfTwo) {
  static_assert(load_store_traits<tile<2, 1, 2, 6>, half_t>::scalar_per_vector == 2);
  static_assert(load_store_traits<tile<2, 1, 2, 3>, half_t>::scalar_per_vector == 1);
  static_assert(load_store_traits<tile<2, 1, 2, 3>, half_t>::num_access == 3);
}

// Registers may list the contiguous dimension first.
TEST(LoadStoreTraits, VectorDimensionNeedNotBeTheLastY) {
  using turned = decltype(make_static_tile_distribution(
      tile_distribution_encoding<sequence<>, tuple<sequence<2, 2>, sequence<4, 4>>, tuple<sequence<1>, sequence<2>>,
                                 tuple<sequence<0>, sequence<0>>, sequence<2, 1>, sequence<1, 1>>{}));
  using traits = load_store_traits<turned, float>;
  static_assert(traits::vector_dim_y == 0 && traits::scalar_per_vector == 4);
}

TEST(ChooseVector, AsksTheMemory) {
  static_assert(detail::vector_choice{} == detail::vector_choice{0, 1},
                "one element, unless something better is found");
  constexpr distribution_encoding e = tile<4, 8, 2, 8>::encoding;
  const auto choose = [&](index_t rows, index_t cols, index_t bytes) {
    return detail::choose_vector(e, multi_index<2>{{rows, cols}}, bytes);
  };
  EXPECT_EQ(choose(1, 1 << 20, 2), (detail::vector_choice{1, 8}));
  EXPECT_EQ(choose(1, 4, 2), (detail::vector_choice{1, 4}));
  EXPECT_EQ(choose(1, 12, 2), (detail::vector_choice{1, 4}));
  EXPECT_EQ(choose(1, 1, 2), (detail::vector_choice{1, 1})) << "the last y, one element at a time";
  EXPECT_EQ(choose(8, 1, 2), (detail::vector_choice{0, 8})) << "column-major";
  EXPECT_EQ(choose(8, 8, 2), (detail::vector_choice{0, 8})) << "the first of equals";
  EXPECT_EQ(choose(2, 8, 2), (detail::vector_choice{1, 8}));
  EXPECT_EQ(choose(1, 64, 16), (detail::vector_choice{1, 1}));
}

// CK Tile's page hands over the encoding itself.
TEST(LoadStoreTraits, TakesAnEncodingAsWell) {
  using encoding =
      tile_distribution_encoding<sequence<>, tuple<sequence<2, 2>, sequence<4, 4>>, tuple<sequence<1>, sequence<2>>,
                                 tuple<sequence<0>, sequence<0>>, sequence<1, 2>, sequence<1, 1>>;
  using traits = load_store_traits<encoding, float>;
  static_assert(traits::encoding == documented::row_major_4x16::encoding && traits::scalar_per_vector == 4);
  static_assert(std::is_same_v<detail::distribution_of_t<encoding>, documented::row_major_4x16>);
}

TEST(LoadStoreTraits, AnElementMayFillAnAccess) {
  struct wide {
    float values[4];
  };
  static_assert(load_store_traits<documented::row_major_4x16, wide>::scalar_per_vector == 1);
  EXPECT_EQ(detail::choose_vector(documented::row_major_4x16::encoding, multi_index<2>{{1, 16}}, 24).length, 1);
}

// The page's advice: a tile's row fills whole cache lines.
TEST(LoadStoreTraits, RowsOfTilesMayFillCacheLines) {
  static_assert(documented::optimized_vector::get_lengths()[1] * sizeof(float) % 64 == 0);
  static_assert(documented::simple_8x8::get_lengths()[1] * sizeof(float) % 64 != 0);
}

// The page on curves walks a tile so.
TEST(LoadStoreTraits, CurvesAreWalkedInAStaticFor) {
  using traits = load_store_traits<documented::optimized_vector, float>;
  index_t accesses = 0;
  static_for<0, traits::sfc_ys.get_num_of_access(), 1>{}([&](auto i) {
    constexpr auto indices = traits::sfc_ys.get_index(i);
    EXPECT_EQ(indices, traits::get_y_indices(i));
    ++accesses;
  });
  EXPECT_EQ(accesses, traits::num_access);
}

}  // namespace
}  // namespace tilewright
