// SPDX-License-Identifier: MIT
// Graphs as values: what they say about lengths, linearity and runs, at run time as at compile time.
#include "sample_descriptors.hpp"

#include <tilewright/descriptor/tensor_coordinate.hpp>

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace tilewright {
namespace {

template <tensor_graph Graph>
constexpr index_t run_of_last(const tensor_descriptor<Graph>&) {
  return contiguous_runs(Graph, 1 << 20)[Graph.top[Graph.ndim() - 1]];
}

TEST(TensorGraph, RunTimeEvaluationAgreesWithTheExpandedOne) {
  const auto compare = [](const char* name, const auto& descriptor, auto) {
    const tensor_graph graph = descriptor.graph;
    samples::each_index(descriptor.get_lengths(), [&](const auto& index) {
      index_t hidden[tensor_graph::max_hidden] = {};
      lower_all(graph, descriptor.values.data(), index.data(), hidden);
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
  static_assert(find_source(d.graph, 2).node == 0 && find_source(d.graph, 2).upper == 1);
  static_assert(find_source(d.graph, 0).node == -1, "the bottom");
}

TEST(TensorGraph, LengthsAreDynamicWhereARunTimeValueDecides) {
  const auto d = make_naive_tensor_descriptor(make_tuple(12, number<20>{}), make_tuple(24, number<1>{}));
  EXPECT_EQ(hidden_length(d.graph, d.graph.top[0]), dynamic);
  EXPECT_EQ(hidden_length(d.graph, d.graph.top[1]), 20);
  EXPECT_EQ(hidden_length(d.graph, 0), dynamic) << "the bottom is as long as needed";
}

TEST(TensorGraph, LinearWithoutMergeAndXor) {
  samples::sample_maker<false>::each([](const std::string& name, const auto& descriptor, auto) {
    const bool expected = name.find("merge") == std::string::npos && name.find("swizzled") == std::string::npos &&
                          name != "shifted cyclically" && name != "a part that repeats" && name != "gathered";
    EXPECT_EQ(is_linear(descriptor.graph), expected) << name;
  });
}

TEST(TensorGraph, F2LinearWhenEveryTransformIs) {
  constexpr auto powers = make_naive_tensor_descriptor_packed(make_tuple(number<6>{}, number<8>{}, number<4>{}));
  static_assert(is_f2_linear(powers.graph));
  constexpr auto swizzled = transform_tensor_descriptor(
      powers,
      make_tuple(make_xor_transform(make_tuple(number<6>{}, number<8>{})), make_pass_through_transform(number<4>{})),
      make_tuple(sequence<0, 1>{}, sequence<2>{}), make_tuple(sequence<0, 1>{}, sequence<2>{}));
  static_assert(is_f2_linear(swizzled.graph));
  static_assert(
      !is_f2_linear(make_naive_tensor_descriptor_packed(make_tuple(number<6>{}, number<8>{}, number<5>{})).graph));
}

TEST(TensorGraph, RunsOfPlainTensors) {
  constexpr number<1> one{};
  constexpr auto strided = [](auto rows, auto cols, auto pitch) {
    return make_naive_tensor_descriptor(make_tuple(rows, cols), make_tuple(pitch, number<1>{}));
  };
  static_assert(run_of_last(strided(number<8>{}, number<64>{}, number<64>{})) == 64);
  static_assert(run_of_last(strided(number<8>{}, number<64>{}, number<72>{})) == 8);
  static_assert(run_of_last(strided(number<8>{}, number<63>{}, number<64>{})) == 1);
  static_assert(run_of_last(strided(8, 64, 64)) == 1, "nothing is promised");
  static_assert(run_of_last(make_naive_tensor_descriptor(make_tuple(8, 64), make_tuple(64, one), number<8>{})) == 8);
  static_assert(run_of_last(make_naive_tensor_descriptor_packed(make_tuple(8, number<48>{}))) == 16, "of 2^20 and 48");
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

TEST(TensorGraph, KnowsWhereElementsExist) {
  const auto compare = [](const char* name, const auto& descriptor, auto formula) {
    const tensor_graph graph = descriptor.graph;
    bool some_do_not = false;
    samples::each_index(descriptor.get_lengths(), [&](const auto& index) {
      const auto hidden = descriptor.calculate_hidden_index(index);
      const bool exists = is_valid_everywhere(graph, descriptor.values.data(), hidden.data());
      ASSERT_EQ(exists, formula(index).has_value()) << name;
      some_do_not = some_do_not || !exists;
    });
    EXPECT_EQ(may_be_invalid(graph), some_do_not) << name;
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
  EXPECT_FALSE(has_constant_term(matrix.graph));
  EXPECT_FALSE(has_constant_term(with(make_right_pad_transform(number<4>{}, number<1>{})).graph));
  EXPECT_TRUE(has_constant_term(with(make_left_pad_transform(number<4>{}, number<1>{})).graph));
  EXPECT_TRUE(has_constant_term(with(make_slice_transform(number<4>{}, 1, 3)).graph)) << "who knows";
  EXPECT_FALSE(has_constant_term(with(make_slice_transform(number<4>{}, number<0>{}, 3)).graph));
}

}  // namespace
}  // namespace tilewright
