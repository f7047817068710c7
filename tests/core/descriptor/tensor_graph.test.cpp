// SPDX-License-Identifier: MIT
// Graphs as values: what they say about lengths, linearity and runs, at run time as at compile time.
#include "sample_descriptors.hpp"

#include <tilewright/core/descriptor/tensor_coordinate.hpp>
#include "graph_walk.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace tilewright {
namespace {

template <tensor_graph Graph>
constexpr index_t run_of_last(const tensor_descriptor<Graph>&) {
  return detail::contiguous_runs(Graph, 1 << 20)[Graph.top[Graph.ndim() - 1]];
}

TEST(TensorGraph, RunTimeEvaluationAgreesWithTheExpandedOne) {
  const auto compare = [](const char* name, const auto& descriptor, auto) {
    const tensor_graph graph = descriptor.graph;
    samples::each_index(descriptor.get_lengths(), [&](const auto& index) {
      index_t hidden[tensor_graph::max_hidden] = {};
      detail::lower_all(graph, descriptor.values.data(), index.data(), hidden);
      const auto expanded = descriptor.calculate_hidden_index(index);
      for (index_t i = 0; i < expanded.size(); ++i)
        ASSERT_EQ(hidden[i], expanded[i]) << name << ", hidden dimension " << i;
    });
  };
  samples::sample_maker<true>::each(compare);
  samples::sample_maker<false>::each(compare);
}

TEST(TensorGraph, KnowsWhichNodeMakesADimension) {
  constexpr auto d = make_naive_tensor_descriptor_packed(make_tuple(number<4>{}, number<6>{}));
  static_assert(detail::find_source(d.graph, 2).node == 0 && detail::find_source(d.graph, 2).upper == 1);
  static_assert(detail::find_source(d.graph, 0).node == -1, "the bottom");
}

TEST(TensorGraph, LengthsAreDynamicWhereARunTimeValueDecides) {
  const auto d = make_naive_tensor_descriptor(make_tuple(12, number<20>{}), make_tuple(24, number<1>{}));
  EXPECT_EQ(detail::hidden_length(d.graph, d.graph.top[0]), dynamic);
  EXPECT_EQ(detail::hidden_length(d.graph, d.graph.top[1]), 20);
  EXPECT_EQ(detail::hidden_length(d.graph, 0), dynamic) << "the bottom is as long as needed";
}

TEST(TensorGraph, LinearWithoutMergeAndXor) {
  samples::sample_maker<false>::each([](const std::string& name, const auto& descriptor, auto) {
    const bool expected = name.find("merge") == std::string::npos && name.find("swizzled") == std::string::npos &&
                          name != "shifted cyclically" && name != "a part that repeats" && name != "gathered";
    EXPECT_EQ(detail::is_linear(descriptor.graph), expected) << name;
  });
}

TEST(TensorGraph, F2LinearWhenEveryTransformIs) {
  constexpr auto powers = make_naive_tensor_descriptor_packed(make_tuple(number<6>{}, number<8>{}, number<4>{}));
  static_assert(detail::is_f2_linear(powers.graph));
  constexpr auto swizzled = transform_tensor_descriptor(
      powers,
      make_tuple(make_xor_transform(make_tuple(number<6>{}, number<8>{})), make_pass_through_transform(number<4>{})),
      make_tuple(sequence<0, 1>{}, sequence<2>{}), make_tuple(sequence<0, 1>{}, sequence<2>{}));
  static_assert(detail::is_f2_linear(swizzled.graph));
  static_assert(!detail::is_f2_linear(
      make_naive_tensor_descriptor_packed(make_tuple(number<6>{}, number<8>{}, number<5>{})).graph));
}

TEST(TensorGraph, RunsOfPlainTensors) {
  constexpr number<1> one{};
  constexpr auto strided = [](auto rows, auto cols, auto pitch) {
    return make_naive_tensor_descriptor(make_tuple(rows, cols), make_tuple(pitch, number<1>{}));
  };
  static_assert(run_of_last(strided(number<8>{}, number<64>{}, number<64>{})) == 64);
  static_assert(run_of_last(strided(number<8>{}, number<64>{}, number<72>{})) == 8);
  static_assert(run_of_last(strided(number<8>{}, number<63>{}, number<64>{})) == 1);
  static_assert(run_of_last(strided(8, 64, 64)) == 1, "nothing is guaranteed");
  static_assert(run_of_last(make_naive_tensor_descriptor(make_tuple(8, 64), make_tuple(64, one), number<8>{})) == 8);
  static_assert(run_of_last(make_naive_tensor_descriptor_packed(make_tuple(8, number<48>{}))) == 16, "of 2^20 and 48");
  static_assert(run_of_last(make_naive_tensor_descriptor(make_tuple(number<8>{}, number<64>{}),
                                                         make_tuple(number<64>{}, one), number<4>{})) == 4,
                "no vector is longer than guaranteed");
  static_assert(run_of_last(make_naive_tensor_descriptor_packed(make_tuple(number<8>{}, number<64>{}), one)) == 1);
  static_assert(run_of_last(make_naive_tensor_descriptor_packed(make_tuple(8, 64), one)) == 1);
}

TEST(TensorGraph, RunsThroughTransforms) {
  constexpr auto matrix = make_naive_tensor_descriptor_packed(make_tuple(number<16>{}, number<64>{}));
  constexpr auto rows = make_pass_through_transform(number<16>{});
  const auto with = [&](auto columns) {
    return transform_tensor_descriptor(matrix, make_tuple(rows, columns), make_tuple(sequence<0>{}, sequence<1>{}),
                                       make_tuple(sequence<0>{}, sequence<1>{}));
  };
  EXPECT_EQ(run_of_last(with(make_right_pad_transform(number<64>{}, number<3>{}))), 64);
  EXPECT_EQ(run_of_last(with(make_left_pad_transform(number<64>{}, number<8>{}))), 8);
  EXPECT_EQ(run_of_last(with(make_offset_transform(number<32>{}, number<4>{}))), 4);
  const auto swizzled =
      transform_tensor_descriptor(matrix, make_tuple(make_xor_transform(make_tuple(number<16>{}, number<64>{}))),
                                  make_tuple(sequence<0, 1>{}), make_tuple(sequence<0, 1>{}));
  EXPECT_EQ(run_of_last(swizzled), 1) << "the fastest dimension is permuted";
  const auto flat =
      transform_tensor_descriptor(matrix, make_tuple(make_merge_transform(make_tuple(number<16>{}, number<64>{}))),
                                  make_tuple(sequence<0, 1>{}), make_tuple(sequence<0>{}));
  EXPECT_EQ(run_of_last(flat), 64);
}

// A merged dimension has vectors where the guarantee says that its fastest length is a multiple of them.
TEST(TensorGraph, PromisesSurviveMerge) {
  const auto merged = [](const auto& descriptor, auto... columns) {
    return transform_tensor_descriptor(descriptor, make_tuple(make_merge_transform(make_tuple(3, 5, columns...))),
                                       make_tuple(make_sequence<2 + sizeof...(columns)>{}), make_tuple(sequence<0>{}));
  };
  constexpr number<1> one{};
  const auto plain = make_naive_tensor_descriptor(make_tuple(3, 5, 16), make_tuple(80, 16, one), number<8>{});
  EXPECT_EQ(run_of_last(merged(plain, 16)), 8);
  const auto unpromised = make_naive_tensor_descriptor(make_tuple(3, 5, 16), make_tuple(80, 16, one));
  EXPECT_EQ(run_of_last(merged(unpromised, 16)), 1);
  const auto padded = [&](auto right) {
    return transform_tensor_descriptor(
        plain,
        make_tuple(make_pass_through_transform(3), make_pass_through_transform(5), make_right_pad_transform(16, right)),
        make_tuple(sequence<0>{}, sequence<1>{}, sequence<2>{}),
        make_tuple(sequence<0>{}, sequence<1>{}, sequence<2>{}));
  };
  EXPECT_EQ(run_of_last(padded(3)), 8) << "a vector that reaches beyond the pad holds nothing that exists";
  EXPECT_EQ(run_of_last(merged(padded(3), 19)), 1) << "rows of 19 begin anywhere";
  EXPECT_EQ(run_of_last(merged(padded(number<4>{}), 20)), 4);
}

// Moving a coordinate and moving the graph known only at run time are the same.
TEST(TensorGraph, MovesAtRunTimeAsTheExpandedFormDoes) {
  std::mt19937 random(1);
  samples::sample_maker<false>::each([&](const char* name, const auto& descriptor, auto) {
    constexpr index_t ndim = std::remove_cvref_t<decltype(descriptor)>::ndim;
    const tensor_graph graph = descriptor.graph;
    auto coordinate = make_tensor_coordinate(descriptor, {});
    auto hidden = coordinate.hidden;
    for (int i = 0; i < 300; ++i) {
      multi_index<ndim> step{};
      for (index_t& s : step) s = index_t(random() % 9) - 4;
      move_tensor_coordinate(descriptor, coordinate, step);
      move_all(graph, descriptor.values.data(), step.data(), hidden.data());
      ASSERT_EQ(hidden, coordinate.hidden) << name << ", step " << i;
    }
  });
}

/// As many nodes as a graph holds, and the widest transforms there are: offsets of 1, 2,
/// 3, ... around a dimension that is split into eight and put together again.
constexpr tensor_graph full_graph() {
  tensor_graph graph;
  const auto add = [&](transform_spec spec, index_t num_lower, index_t num_upper, index_t lower, index_t upper) {
    tensor_graph::node node{spec, graph.num_values, {}, {}};
    for (index_t i = 0; i < num_lower; ++i) node.lower.push_back(static_cast<signed char>(lower + i));
    for (index_t i = 0; i < num_upper; ++i) node.upper.push_back(static_cast<signed char>(upper + i));
    graph.nodes.push_back(node);
    graph.num_values += spec.num_dynamic();
    graph.num_hidden = upper + num_upper;
  };
  constexpr number<2> two{};
  constexpr auto eight = make_tuple(two, two, two, two, two, two, two, two);
  add(make_unmerge_transform(eight).spec, 1, 8, 0, 1);
  add(make_merge_transform(eight).spec, 8, 1, 1, 9);
  for (index_t i = 2; i < tensor_graph::max_nodes; ++i)
    add(make_offset_transform(number<100>{}, 0).spec, 1, 1, graph.num_hidden - 1, graph.num_hidden);
  graph.top.push_back(static_cast<signed char>(graph.num_hidden - 1));
  return graph;
}

// At compile time, where nothing beyond the end of an array may be read or written.
TEST(TensorGraph, MayBeFull) {
  constexpr tensor_graph graph = full_graph();
  constexpr index_t offsets[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14};
  static_assert(graph.nodes.size() == tensor_graph::max_nodes && graph.num_values == 14 && graph.num_hidden == 24);
  static_assert(detail::find_source(graph, 0).node == -1 && detail::find_source(graph, 8).node == 0 &&
                detail::find_source(graph, 8).upper == 7 && detail::find_source(graph, 23).node == 15 &&
                detail::find_source(graph, 24).node == -1);
  static_assert(detail::hidden_length(graph, 8) == 2 && detail::hidden_length(graph, 9) == 256 &&
                detail::hidden_length(graph, 23) == 100);
  static_assert([&] {
    const index_t index[] = {7}, step[] = {20};
    index_t hidden[24] = {}, moved[24] = {};
    detail::lower_all(graph, offsets, index, hidden);
    for (index_t i = 0; i < 24; ++i) moved[i] = hidden[i];
    move_all(graph, offsets, step, moved);
    return hidden[0] == 7 + 105 && hidden[9] == 112 && moved[0] == 132 && moved[23] == 27 &&
           detail::is_valid_everywhere(graph, offsets, hidden) && lengths_fit(graph, offsets);
  }());
  static_assert(!detail::is_linear(graph) && !detail::may_be_invalid(graph) && detail::has_constant_term(graph) &&
                !detail::is_f2_linear(graph));
  constexpr auto runs = detail::contiguous_runs(graph, 64);
  static_assert(runs[0] == 64 && runs[8] == 2 && runs[7] == 1 && runs[9] == 2 && runs[10] == 1 && runs[23] == 1);
}

TEST(TensorGraph, KnowsWhereElementsExist) {
  const auto compare = [](const char* name, const auto& descriptor, auto formula) {
    const tensor_graph graph = descriptor.graph;
    bool some_do_not = false;
    samples::each_index(descriptor.get_lengths(), [&](const auto& index) {
      const auto hidden = descriptor.calculate_hidden_index(index);
      const bool exists = detail::is_valid_everywhere(graph, descriptor.values.data(), hidden.data());
      ASSERT_EQ(exists, formula(index).has_value()) << name;
      some_do_not = some_do_not || !exists;
    });
    EXPECT_EQ(detail::may_be_invalid(graph), some_do_not) << name;
  };
  samples::sample_maker<true>::each(compare);
  samples::sample_maker<false>::each(compare);
}

TEST(TensorGraph, AConstantTermIsOneOfItsTransforms) {
  constexpr auto matrix = make_naive_tensor_descriptor_packed(make_tuple(number<4>{}, number<8>{}));
  const auto with = [&](auto rows) {
    return transform_tensor_descriptor(matrix, make_tuple(rows, make_pass_through_transform(number<8>{})),
                                       make_tuple(sequence<0>{}, sequence<1>{}),
                                       make_tuple(sequence<0>{}, sequence<1>{}));
  };
  EXPECT_FALSE(detail::has_constant_term(matrix.graph));
  EXPECT_FALSE(detail::has_constant_term(with(make_right_pad_transform(number<4>{}, number<1>{})).graph));
  EXPECT_TRUE(detail::has_constant_term(with(make_left_pad_transform(number<4>{}, number<1>{})).graph));
  EXPECT_TRUE(detail::has_constant_term(with(make_slice_transform(number<4>{}, 1, 3)).graph)) << "who knows";
  EXPECT_FALSE(detail::has_constant_term(with(make_slice_transform(number<4>{}, number<0>{}, 3)).graph));
}

}  // namespace
}  // namespace tilewright
