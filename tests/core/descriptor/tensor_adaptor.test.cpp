// SPDX-License-Identifier: MIT
// Adaptors: one layer, layers on top of layers, adaptors on top of adaptors.
#include <tilewright/core/descriptor/tensor_coordinate.hpp>
#include <tilewright/core/descriptor/transform_descriptor.hpp>

#include <gtest/gtest.h>

namespace tilewright {
namespace {

constexpr number<4> four{};
constexpr number<6> six{};
constexpr number<8> eight{};

// Top (r, thread, k) to bottom (m, k): m = thread / 4, bottom k = 8 * (thread % 4) + k,
// as a distribution would have it.
constexpr auto threads = make_single_stage_tensor_adaptor(
    make_tuple(make_replicate_transform(make_tuple(number<3>{})), make_unmerge_transform(make_tuple(six)),
               make_unmerge_transform(make_tuple(four, eight))),
    make_tuple(sequence<>{}, sequence<0>{}, sequence<1>{}), make_tuple(sequence<0>{}, sequence<1>{}, sequence<2, 3>{}));
constexpr auto merged_threads = transform_tensor_adaptor(
    threads,
    make_tuple(make_pass_through_transform(number<3>{}), make_merge_transform(make_tuple(six, four)),
               make_pass_through_transform(eight)),
    make_tuple(sequence<0>{}, sequence<1, 2>{}, sequence<3>{}),
    make_tuple(sequence<0>{}, sequence<1>{}, sequence<2>{}));

TEST(TensorAdaptor, MapsToSeveralBottomDimensions) {
  static_assert(merged_threads.get_num_of_top_dimension() == 3 && merged_threads.get_num_of_bottom_dimension() == 2);
  static_assert(merged_threads.get_lengths() == (multi_index<3>{{3, 24, 8}}));
  static_assert(merged_threads.is_static());
  for (index_t r = 0; r < 3; ++r) {
    for (index_t t = 0; t < 24; ++t) {
      for (index_t k = 0; k < 8; ++k)
        EXPECT_EQ(merged_threads.calculate_bottom_index({r, t, k}), (multi_index<2>{{t / 4, t % 4 * 8 + k}}));
    }
  }
}

TEST(TensorAdaptor, KnowsTheLengthOfWhatItPassesThrough) {
  const auto adaptor = make_single_stage_tensor_adaptor(
      make_tuple(make_pass_through_transform(eight), make_pass_through_transform(5)),
      make_tuple(sequence<1>{}, sequence<0>{}), make_tuple(sequence<0>{}, sequence<1>{}));
  static_assert(adaptor.get_length<0>() == 8);
  EXPECT_EQ(adaptor.get_lengths(), (multi_index<2>{{8, 5}}));
  EXPECT_EQ(adaptor.calculate_bottom_index({7, 3}), (multi_index<2>{{3, 7}}));
  EXPECT_TRUE(adaptor.is_valid({7, 4}));
  EXPECT_FALSE(adaptor.is_valid({7, 5}));
}

TEST(TensorAdaptor, ValidityIsThatOfItsTransforms) {
  constexpr auto padded =
      make_single_stage_tensor_adaptor(make_tuple(make_pad_transform(six, number<2>{}, number<1>{})),
                                       make_tuple(sequence<0>{}), make_tuple(sequence<0>{}));
  static_assert(!padded.is_valid({1}) && padded.is_valid({2}) && padded.is_valid({7}) && !padded.is_valid({8}));
}

TEST(ChainTensorAdaptors, IsTheOneAfterTheOther) {
  constexpr auto tile = make_single_stage_tensor_adaptor(
      make_tuple(make_offset_transform(six, number<10>{}), make_xor_transform(make_tuple(number<32>{}, number<16>{}))),
      make_tuple(sequence<1>{}, sequence<2, 0>{}), make_tuple(sequence<0>{}, sequence<1, 2>{}));
  constexpr auto reversed = make_single_stage_tensor_adaptor(
      make_tuple(make_pass_through_transform(six), make_pass_through_transform(number<32>{}),
                 make_freeze_transform(number<5>{})),
      make_tuple(sequence<0>{}, sequence<1>{}, sequence<2>{}), make_tuple(sequence<0>{}, sequence<1>{}, sequence<>{}));
  constexpr auto all = chain_tensor_adaptors(tile, reversed, merged_threads);
  static_assert(all.get_num_of_bottom_dimension() == 3 && all.get_lengths() == merged_threads.get_lengths());
  for (index_t t = 0; t < 24; ++t) {
    for (index_t k = 0; k < 8; ++k) {
      const auto [m, column] = merged_threads.calculate_bottom_index({2, t, k}).elements;
      const multi_index<2> middle = reversed.calculate_bottom_index({m, column}) == (multi_index<3>{{m, column, 5}})
                                        ? multi_index<2>{{m, column}}
                                        : multi_index<2>{{-1, -1}};
      EXPECT_EQ(all.calculate_bottom_index({2, t, k}), tile.calculate_bottom_index({middle[0], middle[1], 5}));
    }
  }
}

TEST(ChainTensorAdaptors, KeepsTheRunTimeValuesOfEach) {
  const auto shift = [](index_t by, index_t length) {
    return make_single_stage_tensor_adaptor(make_tuple(make_offset_transform(length, by)), make_tuple(sequence<0>{}),
                                            make_tuple(sequence<0>{}));
  };
  const auto all = chain_tensor_adaptors(shift(1, 10), shift(20, 11), shift(300, 12));
  EXPECT_EQ(all.calculate_bottom_index({4}), multi_index<1>{{325}});
  EXPECT_EQ(all.get_lengths(), multi_index<1>{{12}});
  EXPECT_EQ(all.values, (array<index_t, 6>{{10, 1, 11, 20, 12, 300}}));
  EXPECT_EQ(chain_tensor_adaptors(all), all);
}

TEST(Join, NamesWhatDoesNotFit) {
  const tensor_graph three = detail::bottom_graph<3>(), two = detail::bottom_graph<2>();
  const auto count = detail::join(three, two);
  EXPECT_EQ(count.fault, detail::chain_fault::joint_count);
  EXPECT_EQ(count.length, 3);
  EXPECT_EQ(count.transform_length, 2);
  constexpr auto lower = make_single_stage_tensor_adaptor(
      make_tuple(make_pass_through_transform(four), make_pass_through_transform(six)),
      make_tuple(sequence<0>{}, sequence<1>{}), make_tuple(sequence<0>{}, sequence<1>{}));
  constexpr auto merges = make_single_stage_tensor_adaptor(make_tuple(make_merge_transform(make_tuple(four, eight))),
                                                           make_tuple(sequence<0, 1>{}), make_tuple(sequence<0>{}));
  const auto length = detail::join(lower.graph, merges.graph);
  EXPECT_EQ(length.fault, detail::chain_fault::length);
  EXPECT_EQ(length.dimension, 1);
  EXPECT_EQ(length.length, 6);
  EXPECT_EQ(length.transform_length, 8);
  tensor_graph full = lower.graph;
  while (full.nodes.size() < tensor_graph::max_nodes) full.nodes.push_back(full.nodes[0]);
  const auto too_many = detail::join(full, lower.graph);
  EXPECT_EQ(too_many.fault, detail::chain_fault::too_many_nodes);
  EXPECT_TRUE(too_many.dimension == -1 && too_many.length == 0 && too_many.transform_length == 0);
  tensor_graph numerous = lower.graph;
  numerous.num_hidden = tensor_graph::max_hidden - 1;
  EXPECT_EQ(detail::join(numerous, lower.graph).fault, detail::chain_fault::too_many_nodes);
  numerous.num_hidden = tensor_graph::max_hidden - 2;
  EXPECT_EQ(detail::join(numerous, lower.graph).fault, detail::chain_fault::none);
}

TEST(MakeClusterDescriptor, CountsInTheGivenOrder) {
  constexpr auto cluster = make_cluster_descriptor(make_tuple(four, six, number<2>{}), sequence<2, 0, 1>{});
  static_assert(cluster.get_lengths() == multi_index<1>{{48}});
  index_t id = 0;
  for (index_t k = 0; k < 2; ++k) {
    for (index_t i = 0; i < 4; ++i) {
      for (index_t j = 0; j < 6; ++j) EXPECT_EQ(cluster.calculate_bottom_index({id++}), (multi_index<3>{{i, j, k}}));
    }
  }
}

TEST(TensorAdaptorCoordinate, MovesAndSaysByHowMuch) {
  auto coordinate = make_tensor_adaptor_coordinate(merged_threads, {0, 5, 1});
  EXPECT_EQ(coordinate.get_bottom_index(), (multi_index<2>{{1, 9}}));
  multi_index<2> bottom_step{};
  move_tensor_adaptor_coordinate(merged_threads, coordinate, {1, 6, 4}, bottom_step);
  EXPECT_EQ(coordinate.get_top_index(), (multi_index<3>{{1, 11, 5}}));
  EXPECT_EQ(coordinate.get_bottom_index(), (multi_index<2>{{2, 29}}));
  EXPECT_EQ(bottom_step, (multi_index<2>{{1, 20}}));
  move_tensor_adaptor_coordinate(merged_threads, coordinate, {-1, -11, -5});
  EXPECT_EQ(coordinate, make_tensor_adaptor_coordinate(merged_threads, {0, 0, 0}));
}

}  // namespace
}  // namespace tilewright
