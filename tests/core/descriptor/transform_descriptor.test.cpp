// SPDX-License-Identifier: MIT
// Transforms on top of descriptors: what fits, and what is refused.
#include <tilewright/core/descriptor/transform_descriptor.hpp>

#include <gtest/gtest.h>

#include <vector>

namespace tilewright {
namespace {

constexpr auto base = make_naive_tensor_descriptor_packed(make_tuple(number<4>{}, number<6>{}, number<8>{}));

TEST(TransformTensorDescriptor, PermutesDimensionsWithoutANode) {
  constexpr auto turned = transform_tensor_descriptor(
      base,
      make_tuple(make_pass_through_transform(number<4>{}), make_pass_through_transform(6),
                 make_pass_through_transform(number<8>{})),
      make_tuple(sequence<0>{}, sequence<1>{}, sequence<2>{}), make_tuple(sequence<2>{}, sequence<0>{}, sequence<1>{}));
  static_assert(turned.graph.nodes == base.graph.nodes);
  static_assert(turned.get_lengths() == (multi_index<3>{{6, 8, 4}}));
  static_assert(turned.calculate_offset({1, 2, 3}) == base.calculate_offset({3, 1, 2}));
}

TEST(TransformTensorDescriptor, KeepsRunTimeValuesInOrder) {
  const auto d = make_naive_tensor_descriptor(make_tuple(10, 12), make_tuple(100, 3));
  const auto padded =
      transform_tensor_descriptor(d, make_tuple(make_pad_transform(10, 1, 2), make_left_pad_transform(number<12>{}, 5)),
                                  make_tuple(sequence<0>{}, sequence<1>{}), make_tuple(sequence<1>{}, sequence<0>{}));
  EXPECT_EQ(padded.get_lengths(), (multi_index<2>{{17, 13}}));
  EXPECT_EQ(padded.calculate_offset({5 + 7, 1 + 4}), 4 * 100 + 7 * 3);
  EXPECT_EQ(padded.get_element_space_size(), d.get_element_space_size());
}

TEST(TransformTensorDescriptor, FreezeLeavesFewerDimensions) {
  constexpr auto plane = transform_tensor_descriptor(
      base,
      make_tuple(make_pass_through_transform(number<4>{}), make_freeze_transform(number<5>{}),
                 make_pass_through_transform(number<8>{})),
      make_tuple(sequence<0>{}, sequence<1>{}, sequence<2>{}), make_tuple(sequence<0>{}, sequence<>{}, sequence<1>{}));
  static_assert(plane.ndim == 2 && plane.calculate_offset({2, 3}) == base.calculate_offset({2, 5, 3}));
}

using detail::chain_fault;

template <index_t N>
detail::chained_graph chain(const array<transform_spec, N>& specs, const std::vector<std::vector<int>>& lower,
                            const std::vector<std::vector<int>>& upper) {
  const auto ids = [](const std::vector<std::vector<int>>& lists) {
    array<detail::dimension_ids, N> result{};
    for (index_t t = 0; t < N; ++t) {
      for (const int id : lists[std::size_t(t)]) result[t].ids.push_back(static_cast<signed char>(id));
    }
    return result;
  };
  return detail::chain<N>(base.graph, specs, ids(lower), ids(upper));
}

constexpr transform_spec four = make_pass_through_transform(number<4>{}).spec,
                         six = make_pass_through_transform(number<6>{}).spec,
                         eight = make_pass_through_transform(number<8>{}).spec,
                         six_by_eight = make_merge_transform(make_tuple(number<6>{}, number<8>{})).spec;

TEST(Chain, AcceptsWhatFits) {
  const auto result = chain<2>({{four, six_by_eight}}, {{0}, {1, 2}}, {{1}, {0}});
  EXPECT_EQ(result.fault, chain_fault::none);
  EXPECT_EQ(result.graph.ndim(), 2);
  EXPECT_EQ(detail::hidden_length(result.graph, result.graph.top[0]), 48);
  EXPECT_EQ(detail::hidden_length(result.graph, result.graph.top[1]), 4);
  const transform_spec any = make_pass_through_transform(5).spec;
  EXPECT_EQ((chain<3>({{any, six, eight}}, {{0}, {1}, {2}}, {{0}, {1}, {2}}).fault), chain_fault::none)
      << "run-time lengths are not checked";
}

TEST(Chain, NamesTheDimensionThatIsWrong) {
  const auto expect = [](const detail::chained_graph& result, chain_fault fault, index_t dimension) {
    EXPECT_EQ(result.fault, fault);
    EXPECT_EQ(result.dimension, dimension);
    const auto top_lengths = [&] {
      for (const index_t id : result.graph.top)
        EXPECT_EQ(detail::hidden_length(result.graph, id), dynamic) << "fits anything";
      return result.graph.ndim();
    };
    EXPECT_EQ(top_lengths() > 0, fault != chain_fault::too_many_nodes);
    const bool has_counts = fault == chain_fault::lower_count || fault == chain_fault::upper_count;
    EXPECT_EQ(result.length != result.transform_length, has_counts);
  };
  expect(chain<2>({{four, six_by_eight}}, {{0}, {1, 3}}, {{0}, {1}}), chain_fault::lower_id, 3);
  expect(chain<2>({{four, six_by_eight}}, {{0}, {-1, 2}}, {{0}, {1}}), chain_fault::lower_id, -1);
  expect(chain<2>({{six, six_by_eight}}, {{1}, {1, 2}}, {{0}, {1}}), chain_fault::lower_twice, 1);
  expect(chain<1>({{six_by_eight}}, {{1, 2}}, {{0}}), chain_fault::lower_missing, 0);
  expect(chain<2>({{four, six_by_eight}}, {{0}, {1, 2}}, {{0}, {0}}), chain_fault::upper_id, 0);
  expect(chain<2>({{four, six_by_eight}}, {{0}, {1, 2}}, {{0}, {2}}), chain_fault::upper_id, 2);
  expect(chain<2>({{four, six_by_eight}}, {{0}, {1, 2}}, {{0, 1}, {2}}), chain_fault::upper_count, 0);
  expect(chain<2>({{four, six_by_eight}}, {{0}, {1}}, {{0}, {1}}), chain_fault::lower_count, 1);
}

TEST(Chain, ChecksStaticLengths) {
  const auto result = chain<2>({{four, six_by_eight}}, {{0}, {2, 1}}, {{0}, {1}});
  EXPECT_EQ(result.fault, chain_fault::length);
  EXPECT_EQ(result.dimension, 2);
  EXPECT_EQ(result.length, 8);
  EXPECT_EQ(result.transform_length, 6);
}

TEST(Chain, ChecksHowFarATransformReaches) {
  const auto expect = [](const transform_spec& spec, long_index_t needed) {
    const transform_spec rest = make_merge_transform(make_tuple(number<6>{}, number<8>{})).spec;
    const std::vector<int> upper = spec.num_upper == 0 ? std::vector<int>{} : std::vector<int>{1};
    const auto result = chain<2>({{spec, rest}}, {{0}, {1, 2}}, {upper, {0}});
    EXPECT_EQ(result.fault, needed > 4 ? chain_fault::too_short : chain_fault::none);
    EXPECT_EQ(result.transform_length, needed > 4 ? needed : 0);
  };
  expect(make_freeze_transform(number<3>{}).spec, 4);
  expect(make_freeze_transform(number<4>{}).spec, 5);
  expect(make_offset_transform(number<3>{}, number<1>{}).spec, 4);
  expect(make_offset_transform(number<3>{}, number<2>{}).spec, 5);
  expect(make_modulo_transform(number<4>{}, number<9>{}).spec, 4);
  expect(make_modulo_transform(number<5>{}, number<9>{}).spec, 5);
  expect(make_indexing_transform(number<2>{}, make_tuple(number<3>{}, 0)).spec, 4);
  expect(make_indexing_transform(number<2>{}, make_tuple(number<4>{}, 0)).spec, 5);
  expect(make_embed_transform(make_tuple(number<2>{}), make_tuple(number<3>{})).spec, 4);
  expect(make_embed_transform(make_tuple(number<2>{}), make_tuple(number<4>{})).spec, 5);
}

TEST(MakeTensorDescriptorFromAdaptor, IsTheAdaptorWithASpace) {
  constexpr auto adaptor =
      make_single_stage_tensor_adaptor(make_tuple(make_unmerge_transform(make_tuple(number<4>{}, number<6>{}))),
                                       make_tuple(sequence<0>{}), make_tuple(sequence<1, 0>{}));
  constexpr auto columns = make_tensor_descriptor_from_adaptor(adaptor, 30);
  static_assert(columns.calculate_offset({5, 2}) == 17 && columns.get_element_space_size() == 30);
  static_assert(columns.get_lengths() == (multi_index<2>{{6, 4}}));
}

/// Splits a dimension into `parts` and joins them again, as often as a descriptor holds.
tensor_graph split_and_joined_until_full(index_t parts) {
  transform_spec split{transform_kind::unmerge, 1, static_cast<signed char>(parts), {}};
  transform_spec join{transform_kind::merge, static_cast<signed char>(parts), 1, {}};
  detail::dimension_ids first, all;
  first.ids.push_back(0);
  for (index_t i = 0; i < parts; ++i) {
    split.parameters.push_back(2);
    join.parameters.push_back(2);
    all.ids.push_back(static_cast<signed char>(i));
  }
  tensor_graph graph;
  graph.top.push_back(0);
  for (bool splits = true;; splits = !splits) {
    const auto next = splits ? detail::chain<1>(graph, {{split}}, {{first}}, {{all}})
                             : detail::chain<1>(graph, {{join}}, {{all}}, {{first}});
    if (next.fault == chain_fault::too_many_nodes) return graph;
    EXPECT_EQ(next.fault, chain_fault::none);
    graph = next.graph;
  }
}

// A descriptor that is full but for one place takes one more transform, dimension or hidden dimension, and no two.
TEST(Chain, FillsADescriptorToItsLastPlace) {
  const auto chained = [](const tensor_graph& graph, index_t num_upper) {
    transform_spec split{transform_kind::unmerge, 1, static_cast<signed char>(num_upper), {}};
    detail::dimension_ids lower, upper;
    lower.ids.push_back(0);
    for (index_t i = 0; i < num_upper; ++i) {
      split.parameters.push_back(1);
      upper.ids.push_back(static_cast<signed char>(i));
    }
    return detail::chain<1>(graph, {{split}}, {{lower}}, {{upper}}).fault;
  };
  tensor_graph graph;
  graph.top.push_back(0);
  EXPECT_EQ(chained(graph, 2), chain_fault::none);
  tensor_graph nodes = graph;
  while (nodes.nodes.size() < tensor_graph::max_nodes - 1) nodes.nodes.push_back({});
  EXPECT_EQ(chained(nodes, 2), chain_fault::none);
  nodes.nodes.push_back({});
  EXPECT_EQ(chained(nodes, 2), chain_fault::too_many_nodes);
  tensor_graph hidden = graph;
  hidden.num_hidden = tensor_graph::max_hidden - 2;
  EXPECT_EQ(chained(hidden, 2), chain_fault::none);
  EXPECT_EQ(chained(hidden, 3), chain_fault::too_many_nodes);

  // Two transforms that make ten or eleven dimensions of two.
  tensor_graph pair;
  pair.num_bottom = pair.num_hidden = 2;
  pair.top.push_back(0);
  pair.top.push_back(1);
  const auto two_splits = [&](index_t first, index_t second) {
    array<transform_spec, 2> specs{};
    array<detail::dimension_ids, 2> lower{}, upper{};
    signed char next = 0;
    for (index_t t = 0; t < 2; ++t) {
      const index_t count = t == 0 ? first : second;
      specs[t] = {transform_kind::unmerge, 1, static_cast<signed char>(count), {}};
      lower[t].ids.push_back(static_cast<signed char>(t));
      for (index_t i = 0; i < count; ++i) {
        specs[t].parameters.push_back(1);
        upper[t].ids.push_back(next++);
      }
    }
    return detail::chain<2>(pair, specs, lower, upper);
  };
  EXPECT_EQ(two_splits(4, 6).fault, chain_fault::none);
  const auto eleven = two_splits(5, 6);
  EXPECT_EQ(eleven.fault, chain_fault::too_many_nodes);
  EXPECT_TRUE(eleven.dimension == -1 && eleven.length == 0 && eleven.transform_length == 0);
}

TEST(Chain, KnowsWhatADescriptorHolds) {
  for (const index_t parts : {2, 5, 8}) {
    const tensor_graph graph = split_and_joined_until_full(parts);
    EXPECT_LE(graph.nodes.size(), tensor_graph::max_nodes);
    EXPECT_LE(graph.num_hidden, tensor_graph::max_hidden);
    EXPECT_GE(graph.nodes.size(), 10);
  }
}

}  // namespace
}  // namespace tilewright
