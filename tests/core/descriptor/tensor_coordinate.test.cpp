// SPDX-License-Identifier: MIT
// Moving a coordinate equals making a new one, through every transform.
#include "sample_descriptors.hpp"

#include <tilewright/core/descriptor/tensor_coordinate.hpp>

#include <gtest/gtest.h>

#include <random>

namespace tilewright {
namespace {

TEST(TensorCoordinate, IsWhereTheDescriptorSays) {
  const auto compare = [](const char* name, const auto& descriptor, auto) {
    samples::each_index(descriptor.get_lengths(), [&](const auto& index) {
      const auto coordinate = make_tensor_coordinate(descriptor, index);
      ASSERT_EQ(coordinate.get_index(), index) << name;
      if (!descriptor.is_valid(index)) return;
      ASSERT_EQ(coordinate.get_offset(), descriptor.calculate_offset(index)) << name;
      ASSERT_EQ(coordinate.get_hidden_index(), descriptor.calculate_hidden_index(index)) << name;
    });
  };
  samples::sample_maker<true>::each(compare);
  samples::sample_maker<false>::each(compare);
}

// The walk leaves the tensor in all directions and comes back: no step may lose anything.
template <bool Static>
void expect_moves_like_made_anew() {
  std::mt19937 random(1);
  samples::sample_maker<Static>::each([&](const char* name, const auto& descriptor, auto) {
    constexpr index_t ndim = std::remove_cvref_t<decltype(descriptor)>::ndim;
    const auto lengths = descriptor.get_lengths();
    multi_index<ndim> index{};
    auto coordinate = make_tensor_coordinate(descriptor, index);
    for (int i = 0; i < 3000; ++i) {
      multi_index<ndim> step{};
      for (index_t d = 0; d < ndim; ++d) {
        if (random() % 3 == 0) continue;
        const index_t target = index_t(random() % unsigned(2 * lengths[d])) - lengths[d] / 2;
        step[d] = random() % 4 == 0 ? target - index[d] : index_t(random() % 3) - 1;
        index[d] += step[d];
      }
      move_tensor_coordinate(descriptor, coordinate, step);
      ASSERT_EQ(coordinate, make_tensor_coordinate(descriptor, index)) << name << ", step " << i;
    }
  });
}

TEST(MoveTensorCoordinate, EqualsMakingItAnewWithStaticLengths) { expect_moves_like_made_anew<true>(); }
TEST(MoveTensorCoordinate, EqualsMakingItAnewWithRunTimeLengths) { expect_moves_like_made_anew<false>(); }

TEST(MoveTensorCoordinate, EveryPairOfElements) {
  samples::sample_maker<true>::each([](const char* name, const auto& descriptor, auto) {
    if (descriptor.get_element_space_size() > 250) return;
    samples::each_index(descriptor.get_lengths(), [&](const auto& from) {
      samples::each_index(descriptor.get_lengths(), [&](const auto& to) {
        auto step = to;
        for (index_t d = 0; d < descriptor.ndim; ++d) step[d] -= from[d];
        auto coordinate = make_tensor_coordinate(descriptor, from);
        move_tensor_coordinate(descriptor, coordinate, step);
        ASSERT_EQ(coordinate, make_tensor_coordinate(descriptor, to)) << name;
      });
    });
  });
}

TEST(TensorCoordinate, KnowsWhetherThereIsAnElement) {
  const auto compare = [](const char* name, const auto& descriptor, auto formula) {
    samples::each_index(descriptor.get_lengths(), [&](const auto& index) {
      const auto coordinate = make_tensor_coordinate(descriptor, index);
      ASSERT_EQ(coordinate_has_valid_offset_assuming_top_index_is_valid(descriptor, coordinate),
                formula(index).has_value())
          << name;
      ASSERT_EQ(coordinate_has_valid_offset(descriptor, coordinate), formula(index).has_value()) << name;
    });
    for (index_t d = 0; d < descriptor.ndim; ++d) {
      auto outside = descriptor.get_lengths();
      for (index_t& i : outside) i /= 2;
      for (const index_t i : {-1, descriptor.get_lengths()[d]}) {
        outside[d] = i;
        ASSERT_FALSE(coordinate_has_valid_offset(descriptor, make_tensor_coordinate(descriptor, outside))) << name;
      }
    }
  };
  samples::sample_maker<true>::each(compare);
  samples::sample_maker<false>::each(compare);
}

constexpr index_t offset_after_moves() {
  constexpr auto matrix =
      make_naive_tensor_descriptor(make_tuple(number<6>{}, number<8>{}), make_tuple(number<10>{}, number<1>{}));
  constexpr auto flat =
      transform_tensor_descriptor(matrix, make_tuple(make_merge_transform(make_tuple(number<6>{}, number<8>{}))),
                                  make_tuple(sequence<0, 1>{}), make_tuple(sequence<0>{}));
  auto coordinate = make_tensor_coordinate(flat, {0});
  for (int i = 0; i < 7; ++i) move_tensor_coordinate(flat, coordinate, {5});
  move_tensor_coordinate(flat, coordinate, {-3});
  return coordinate.get_offset();
}

TEST(MoveTensorCoordinate, IsAConstantExpression) { static_assert(offset_after_moves() == 4 * 10); }

}  // namespace
}  // namespace tilewright
