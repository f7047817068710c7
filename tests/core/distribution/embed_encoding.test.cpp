// SPDX-License-Identifier: MIT
// Embedding: positions of the composed tile, and what has no room.
#include "naive_distribution.hpp"

#include <tilewright/core/distribution/embed_encoding.hpp>
#include <tilewright/core/distribution/tile_distribution.hpp>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

using naive::indices;

// A wave's tile of 4 x 8 in registers of 2, two of them along columns, for 2 x 3 waves.
TEST(Embed, PutsATileIntoEachElementOfTheOuterOne) {
  constexpr distribution_encoding inner =
      tile_distribution_encoding<sequence<>, tuple<sequence<4>, sequence<4, 2>>, tuple<sequence<1, 2>>,
                                 tuple<sequence<0, 0>>, sequence<2>, sequence<1>>::value;
  constexpr distribution_encoding outer =
      tile_distribution_encoding<sequence<>, tuple<sequence<2>, sequence<2, 3>>, tuple<sequence<1, 2>, sequence<>>,
                                 tuple<sequence<0, 1>, sequence<>>, sequence<2>, sequence<0>>::value;
  constexpr distribution_encoding both = embed(outer, inner);
  static_assert(check_encoding(both).is_sound());
  static_assert(both.x_length(0) == 8 && both.x_length(1) == 48 && both.p_length(0) == 6 && both.p_length(1) == 16 &&
                both.num_elements_per_thread() == 4);
  naive::each_index({6, 16, 2, 2}, [&](const indices& i) {
    const indices tile = naive::position(outer, {i[0], 0}, {i[2]}), in_tile = naive::position(inner, {i[1]}, {i[3]});
    EXPECT_EQ(naive::position(both, {i[0], i[1]}, {i[2], i[3]}),
              (indices{tile[0] * 4 + in_tile[0], tile[1] * 8 + in_tile[1]}));
  });
}

TEST(Embed, HasCkTilesSpelling) {
  using outer = tile_distribution_encoding<sequence<>, tuple<sequence<2>, sequence<2>>, tuple<sequence<1>, sequence<>>,
                                           tuple<sequence<0>, sequence<>>, sequence<2>, sequence<0>>;
  using inner = tile_distribution_encoding<sequence<>, tuple<sequence<8>, sequence<8, 4>>, tuple<sequence<1, 2>>,
                                           tuple<sequence<0, 0>>, sequence<2>, sequence<1>>;
  constexpr auto distribution = make_static_tile_distribution(make_embed_tile_distribution_encoding(outer{}, inner{}));
  static_assert(distribution.encoding == embed(outer::value, inner::value));
  static_assert(distribution.get_lengths() == multi_index<2>{{16, 64}} && distribution.num_threads() == 128);
}

TEST(Embed, SaysWhatHasNoRoom) {
  distribution_encoding one, two;
  one.h.push_back({});
  EXPECT_EQ(check_embed(one, two), detail::embed_fault::dimensions_differ);
  two.h.push_back({});
  EXPECT_EQ(check_embed(one, two), detail::embed_fault::none);
  for (index_t i = 0; i < 6; ++i) one.h[0].push_back(2);
  EXPECT_EQ(check_embed(one, two), detail::embed_fault::none);
  two.h[0].push_back(2);
  EXPECT_EQ(check_embed(one, two), detail::embed_fault::too_many_factors);
  one.h[0] = {};
  for (index_t i = 0; i < 4; ++i) one.r.push_back(2);
  two.r = one.r;
  EXPECT_EQ(check_embed(one, two), detail::embed_fault::too_many_factors);
  two.r = {};
  one.p.push_back({});
  two.p.push_back({});
  for (index_t i = 0; i < 6; ++i) one.p[0].push_back({1, 0});
  EXPECT_EQ(check_embed(one, two), detail::embed_fault::none);
  two.p[0].push_back({1, 0});
  EXPECT_EQ(check_embed(one, two), detail::embed_fault::too_many_ids);
  two.p.push_back({});  // now {.., nothing}: the outer lane meets no inner one
  EXPECT_EQ(check_embed(one, two), detail::embed_fault::none);
  for (index_t i = 0; i < 8; ++i) one.y.push_back({1, 0});
  EXPECT_EQ(check_embed(one, two), detail::embed_fault::none);
  two.y.push_back({1, 0});
  EXPECT_EQ(check_embed(one, two), detail::embed_fault::too_many_ids);
}

}  // namespace
}  // namespace tilewright
